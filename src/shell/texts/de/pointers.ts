import type { pointers as english } from '../en/pointers.ts';

export const pointers: typeof english = {
  title: 'Bleibende Adressen',
  note: 'Eine bleibende Adresse bleibt gleich, während sich Ihre Website ändert. Nur ihr Schlüssel kann ändern, wohin sie führt. Er liegt nur in diesem Browser, verschlüsselt mit Ihrer Passphrase oder Ihrem Passkey.',
  empty: 'Noch keine.',
  shared:
    'Bei diesem Gateway laufen Websites unter der Adresse des Gateways selbst. Dort könnten deren Skripte Ihre Schlüssel erreichen.',
  blocked: 'Die Schlüssel sind nicht lesbar',
  unnamed: 'Ohne Namen',
  create: 'Neue bleibende Adresse…',
  bring: 'In diesen Browser holen…',
  step: {
    about:
      'Die Adresse einer Veröffentlichung zeigt immer diese Fassung. Eine bleibende Adresse kann zu jeder neuen Fassung führen.',
    create: 'Bleibende Adresse anlegen…',
    move: 'Bleibende Adresse umstellen…',
  },
  createTitle: 'Neue bleibende Adresse',
  bringTitle: 'Eine bleibende Adresse in diesen Browser holen',
  label: 'Ihr Name dafür',
  labelNote: 'Nur Sie sehen diesen Namen.',
  content: 'Führt zu',
  otherContent: 'Eine andere Adresse…',
  address: 'Adresse des Inhalts',
  addressNote:
    '64 Hexadezimalziffern. Die Adresse einer Veröffentlichung oder eine andere bleibende Adresse, etwa die eines neuen Eigentümers.',
  badAddress: 'Das ist keine Adresse.',
  where: 'Speicherort',
  placeQuestion: 'Wo möchten Sie die Adresse speichern?',
  places: { peers: 'Bei Peers', network: 'Im Autonomi-Netzwerk' },
  networkNote: 'Sie bezahlen jeden neuen Stand mit Ihrer eigenen Wallet und sehen vorher den Preis.',
  relaysNote:
    'Sie nehmen kein Geld und können nicht ändern, wohin die Adresse führt. Zwei prüfen einander: Wählen Sie, wenn es geht, zwei von verschiedenen Betreibern.',
  notPaid: 'Sie sind zurückgegangen, ohne zu zahlen. Die Adresse wurde nicht geändert.',
  finishFirst:
    'Eine Änderung einer bleibenden Adresse läuft noch und wartet vielleicht auf Ihre Zahlung. Schließen Sie diese Änderung zuerst ab, oder brechen Sie sie ab.',
  passphraseNote:
    'Die Passphrase verschlüsselt den Schlüssel in diesem Browser. Sie lässt sich nicht zurücksetzen. Mindestens 8 Zeichen, am besten mehrere Wörter.',
  unlockBy: 'Entsperren mit',
  locks: { passphrase: 'einer Passphrase', passkey: 'einem Passkey' },
  passkeyNote:
    'Der Passkey funktioniert nur zusammen mit den gespeicherten Daten dieses Browsers. Auf einem anderen Gerät entsperrt er den Schlüssel nicht, und eine Sicherung enthält den Schlüssel nur, wenn er auch eine Passphrase hat. Bewahren Sie die 24 Wörter auf: Mit ihnen holen Sie die Adresse zurück, wenn der Passkey oder die Daten verloren sind.',
  passkeyAsks: 'Ihr Browser bittet Sie, den Passkey zu bestätigen.',
  filePassphrase: 'Wählen Sie eine Passphrase für die Datei.',
  presentPassphrase: 'Aktuelle Passphrase',
  newPassphrase: 'Die neue Passphrase:',
  unlockedBy: {
    passphrase: 'Eine Passphrase entsperrt den Schlüssel.',
    passkey: 'Ein Passkey entsperrt den Schlüssel.',
    both: 'Eine Passphrase oder ein Passkey entsperrt den Schlüssel. Eines von beiden genügt.',
  },
  changes: {
    addPasskey: 'Einen Passkey hinzufügen. Die Passphrase bleibt.',
    removePasskey: 'Den Passkey entfernen. Die Passphrase bleibt.',
    addPassphrase: 'Eine Passphrase hinzufügen. Der Passkey bleibt.',
    removePassphrase: 'Die Passphrase entfernen. Der Passkey bleibt.',
    changePassphrase: 'Die Passphrase ändern.',
  },
  unlockChanged: (name) => `Das Entsperren von ${name} wurde geändert.`,
  unlockFaults: {
    refused:
      'Der Passkey wurde nicht bestätigt. Sie oder Ihr Browser haben ihn abgelehnt, oder er ist nicht auf diesem Gerät. Ist er verloren, verwenden Sie die Passphrase, oder holen Sie die Adresse mit den 24 Wörtern zurück.',
    timeout: 'Der Passkey wurde nicht rechtzeitig bestätigt. Versuchen Sie es noch einmal.',
    unsupported:
      'Dieser Browser oder Authentifikator hat keine Passkeys, die einen Schlüssel verschlüsseln können. Verwenden Sie eine Passphrase. Wurde ein Passkey mit dem Namen dieser Adresse angelegt, können Sie ihn löschen.',
    silent:
      'Der Passkey hat kein Geheimnis geliefert und kann den Schlüssel so nicht entschlüsseln. Behalten Sie ihn, und verwenden Sie ihn wie beim Anlegen: im selben Browser und mit demselben Gerät. Oder verwenden Sie die Passphrase, oder holen Sie die Adresse mit den 24 Wörtern zurück.',
    passphrase: 'Die Passphrase ist falsch, oder ein anderer Browser hat den Schlüssel gespeichert.',
    passkey:
      'Das ist ein anderer Passkey, oder der gespeicherte Schlüssel wurde verändert. Verwenden Sie die Passphrase, oder holen Sie die Adresse mit den 24 Wörtern zurück.',
    damaged:
      'Der gespeicherte Schlüssel ist beschädigt, oder er gehört zu einer anderen Adresse. Holen Sie die Adresse mit den 24 Wörtern oder einer Schlüsseldatei zurück.',
    lost: 'Der Schlüsselteil dieses Browsers wurde gelöscht. Weder ein Passkey noch eine Passphrase entsperrt den Schlüssel. Holen Sie die Adresse mit den 24 Wörtern oder einer Schlüsseldatei zurück.',
  },
  next: 'Weiter',
  phraseTitle: 'Schreiben Sie diese 24 Wörter auf',
  phraseNote:
    'Sie sind der Schlüssel. Mit ihnen holen Sie die Adresse zurück, wenn die Daten dieses Browsers verloren sind. Wer sie hat, kann ändern, wohin die Adresse führt. Bewahren Sie sie auf Papier auf.',
  confirmWord: (number) => `Wort ${number}`,
  confirmNote: 'Geben Sie diese Wörter von Ihrem Papier ein.',
  wrongWords: 'Das sind andere Wörter als in der Liste oben.',
  createNow: 'Anlegen',
  created: (name) => `${name} ist bereit. Teilen Sie den Link.`,
  way: 'Was haben Sie?',
  ways: { file: 'Eine Schlüsseldatei', phrase: 'Die 24 Wörter' },
  keyFile: 'Schlüsseldatei',
  keyFilePassphrase: 'Die Passphrase der Schlüsseldatei verschlüsselt den Schlüssel auch in diesem Browser.',
  phrase: '24 Wörter',
  noFile: 'Wählen Sie die Schlüsseldatei.',
  bringNow: 'Hierher holen',
  brought: (name) => `${name} ist jetzt in diesem Browser.`,
  notAsked: (name) =>
    `${name} ist jetzt in diesem Browser. Die App konnte den neuesten Stand nicht erfragen. Vor einer Änderung fragt sie noch einmal.`,
  facts: {
    noState: 'Führt noch nirgendwohin',
    to: (title) => `Führt zu ${title}`,
    state: (counter) => `Stand ${counter}`,
    frozen: 'für immer eingefroren',
    incomplete: 'nicht überall gespeichert',
  },
  nodes: 'den Knoten des Netzwerks',
  missingAt: (peers) =>
    `Der neueste Stand liegt nicht bei ${peers}. Wer dort fragt, sieht ihn nicht. Wählen Sie „Noch einmal speichern…“.`,
  open: 'Öffnen',
  link: 'Link',
  states: 'Frühere Stände',
  current: 'jetzt',
  actions: {
    move: 'Ziel ändern…',
    back: 'Zu diesem Stand zurück…',
    freeze: 'Einfrieren…',
    store: 'Noch einmal speichern…',
    keyFile: 'Schlüsseldatei speichern…',
    phrase: 'Die 24 Wörter zeigen…',
    unlock: 'Passphrase und Passkey…',
    remove: 'Aus diesem Browser entfernen…',
  },
  questions: {
    unlock: 'Was möchten Sie ändern?',
    move: 'Zuerst fragt die App die Peers oder das Netzwerk nach dem neuesten Stand. Besucher sehen die Änderung nach spätestens einer Minute.',
    back: 'Der frühere Inhalt bekommt einen neuen, höheren Stand.',
    freeze:
      'Eine eingefrorene Adresse führt für immer zu ihrem jetzigen Inhalt. Niemand kann das mehr ändern, auch Sie nicht.',
    store:
      'Die App sendet den neuesten Stand an den gewählten Ort, falls er dort fehlt. Nichts wird neu signiert.',
    keyFile:
      'Eine Passphrase verschlüsselt die Datei: die des Schlüssels oder eine neue, wenn ein Passkey ihn entsperrt. Der Befehl „antway pointer“ liest sie.',
    phrase:
      'Achten Sie darauf, dass niemand Ihren Bildschirm sieht. Wer die Wörter hat, kann ändern, wohin die Adresse führt.',
    remove:
      'Ohne Schlüsseldatei oder die 24 Wörter kann niemand je wieder ändern, wohin die Adresse führt. Sie behält ihren jetzigen Inhalt.',
  },
  doIt: {
    unlock: 'Ändern',
    move: 'Ändern',
    back: 'Zurückkehren',
    freeze: 'Für immer einfrieren',
    store: 'Speichern',
    keyFile: 'Speichern',
    phrase: 'Zeigen',
    remove: 'Schlüssel entfernen',
  },
  working: 'Die Peers werden gefragt, der Stand wird signiert und gespeichert …',
  workingInNetwork: 'Das Netzwerk wird gefragt, der Stand wird signiert und gespeichert …',
  unlocking: 'Der Schlüssel wird entschlüsselt …',
  moved: (name, state) => `${name} führt jetzt zum gewählten Inhalt (${state}).`,
  frozen: (name) => `${name} ist eingefroren.`,
  stored: (name) => `${name} ist gespeichert.`,
  saved: 'Die Schlüsseldatei wurde gespeichert.',
  removed: (name) => `Der Schlüssel von ${name} wurde aus diesem Browser entfernt.`,
};
