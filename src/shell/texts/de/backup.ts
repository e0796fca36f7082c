import type { BackupTexts } from '../en/backup.ts';

export const backup: BackupTexts = {
  title: 'Sicherung',
  intro:
    'Eine verschlüsselte Datei mit Bibliothek, Pins, privaten Websites, Veröffentlichungen, Namen, Einstellungen, Entscheidungen und den Schlüsseln bleibender Adressen. Sie lässt sich in einem anderen Browser, auf einem anderen Gerät oder unter einer anderen Adresse eines Gateways wiederherstellen.',
  create: 'Sicherung erstellen…',
  restore: 'Sicherung wiederherstellen…',
  createTitle: 'Neue Sicherung',
  passphrase: 'Passphrase',
  again: 'Passphrase wiederholen',
  show: 'Passphrase anzeigen',
  suggest: 'Passphrase vorschlagen',
  suggested: 'Eine Passphrase wurde vorgeschlagen. Schreiben Sie sie auf.',
  passphraseNote: 'Ohne die Passphrase kann niemand die Sicherung lesen, auch Sie selbst nicht.',
  strength: {
    short: 'Zu kurz: mindestens 8 Zeichen.',
    weak: 'Schwach: mehrere zufällige Wörter oder der Vorschlag sind besser.',
    fair: 'Mittel. Länger ist besser.',
    strong: 'Stark, wenn es kein bekannter Satz ist.',
  },
  differ: 'Die beiden Passphrasen sind verschieden.',
  withContents: 'Inhalte angehefteter Websites aufnehmen',
  withContentsNote: (bytes) =>
    `Die Datei wächst um etwa ${bytes}, und die Websites öffnen sich dann ohne Peer. Sonst liefern Peers die Inhalte nach der Wiederherstellung.`,
  save: 'Sicherung speichern',
  creating: 'Die Sicherung wird erstellt',
  numberOf: (number, count) => `${number} von ${count}`,
  created: (sites, bytes) => `Die Sicherung wurde gespeichert: ${sites}, ${bytes}.`,
  without: (count, formatted) =>
    count === 1
      ? 'Eine angeheftete Website ist hier unvollständig. Ihr Inhalt fehlt in der Sicherung.'
      : `${formatted} angeheftete Websites sind hier unvollständig. Ihre Inhalte fehlen in der Sicherung.`,
  bound: (count, formatted) =>
    `${count === 1 ? 'Eine bleibende Adresse fehlt' : `${formatted} bleibende Adressen fehlen`} in der Sicherung. Ein Schlüssel, den nur ein Passkey entsperrt, kann diesen Browser nicht verlassen. Geben Sie ihm eine Passphrase, oder bewahren Sie seine 24 Wörter auf.`,
  done: 'Fertig',
  restoreTitle: 'Sicherung wiederherstellen',
  file: 'Datei der Sicherung',
  chooseFile: 'Datei wählen…',
  chosen: (name) => `Gewählt: ${name}`,
  noFile: 'Wählen Sie eine Datei.',
  open: 'Sicherung öffnen',
  opening: 'Die Sicherung wird geprüft',
  inside: 'In dieser Sicherung',
  from: (origin, date) => `Erstellt unter ${origin} am ${date}.`,
  partSites: 'Websites',
  partSitesNote: (sites, pinned, isPrivate) => `${sites}: ${pinned} angeheftet, ${isPrivate} privat.`,
  sites: (count, formatted) => `${formatted} ${count === 1 ? 'Website' : 'Websites'}`,
  contents: (bytes) => `Die Inhalte angehefteter Websites sind enthalten (${bytes}).`,
  noContents: 'Peers liefern die Inhalte angehefteter Websites.',
  first: (titles, more) => (more > 0 ? `${titles} und ${more} weitere` : titles),
  refused: (count, formatted) =>
    count === 1
      ? 'Ein Eintrag ist ungültig und wird ausgelassen.'
      : `${formatted} Einträge sind ungültig und werden ausgelassen.`,
  partPublications: 'Von Ihnen veröffentlicht',
  publications: (count, formatted) =>
    `${formatted} ${count === 1 ? 'Veröffentlichung' : 'Veröffentlichungen'}.`,
  partPointers: 'Bleibende Adressen',
  pointers: (count, formatted) =>
    count === 1
      ? 'Eine bleibende Adresse mit ihrem Schlüssel.'
      : `${formatted} bleibende Adressen mit ihren Schlüsseln.`,
  pointersShared:
    'Unter dieser Adresse lassen sich keine Schlüssel wiederherstellen, weil Skripte von Websites sie verwenden könnten. Öffnen Sie Antway dort, wo jede Website einen eigenen Ursprung hat, und stellen Sie sie dort wieder her.',
  partSettings: 'Einstellungen',
  settingsNone: 'Keine.',
  peers: (peers) => `Peers, falls Sie hier keine festgelegt haben: ${peers}.`,
  peersOfPeers: 'Auch Peers, die von diesen Peers genannt werden, falls Sie das hier nicht festgelegt haben.',
  names: (names) => `Namen: ${names}.`,
  denied: (count, formatted) => `${formatted} gesperrte ${count === 1 ? 'Adresse' : 'Adressen'}.`,
  lists: (lists) => `Listen von Websites: ${lists}.`,
  nameLists: (lists) => `Namenslisten: ${lists}.`,
  storage: (bytes) => `Höchstens ${bytes} Speicherplatz, falls Sie hier nichts festgelegt haben.`,
  memory: (bytes) => `Höchstens ${bytes} Arbeitsspeicher, falls Sie hier nichts festgelegt haben.`,
  transport: (transport) => `Übertragungsart „${transport}“, falls Sie hier keine festgelegt haben.`,
  partTrust: 'Websites, die Skripte ausführen dürfen',
  trust: (count, formatted) =>
    `${formatted} ${count === 1 ? 'Website' : 'Websites'}. Nur auswählen, wenn Sie die Sicherung selbst erstellt haben: Skripte können die Daten anderer Websites unter dieser Adresse lesen.`,
  restricted: (count, formatted) =>
    `${formatted} ${count === 1 ? 'Website öffnet' : 'Websites öffnen'} sich ohne Skripte, auch nach der Wiederherstellung.`,
  merge: 'Vorhandenes bleibt. Die Wiederherstellung fügt nur hinzu.',
  apply: 'Wiederherstellen',
  restoring: 'Die Sicherung wird wiederhergestellt',
  restored: 'Die Sicherung wurde wiederhergestellt.',
  added: (parts) => `Hinzugefügt: ${parts}.`,
  addedParts: {
    sites: (count, formatted) => `${formatted} ${count === 1 ? 'Website' : 'Websites'}`,
    pins: (count, formatted) => `${formatted} ${count === 1 ? 'Pin' : 'Pins'}`,
    names: (count, formatted) => `${formatted} ${count === 1 ? 'Name' : 'Namen'}`,
    denied: (count, formatted) => `${formatted} gesperrte ${count === 1 ? 'Adresse' : 'Adressen'}`,
    trusted: (count, formatted) =>
      `${formatted} ${count === 1 ? 'Website' : 'Websites'} mit erlaubten Skripten`,
  },
  addedPublications: (publications) => `Zu „Von Ihnen veröffentlicht“ hinzugefügt: ${publications}`,
  addedPointers: (pointers) =>
    `Zu „Bleibende Adressen“ hinzugefügt: ${pointers} Ihre Passphrasen bleiben dieselben.`,
  addedPeers: 'Die Peers der Sicherung werden jetzt verwendet.',
  nothingAdded: 'Alles darin war hier schon vorhanden.',
  problems: 'Folgendes wurde nicht wiederhergestellt:',
  library: 'Bibliothek öffnen',
  failed: {
    create: 'Es wurde keine Sicherung erstellt.',
    open: 'Die Sicherung wurde nicht geöffnet. Nichts wurde geändert.',
    restore:
      'Die Wiederherstellung endete vorzeitig. Bisher Hinzugefügtes bleibt, und Sie können sie wiederholen.',
  },
  faults: {
    foreign: 'Diese Datei ist keine Sicherung von Antway.',
    newer:
      'Diese Sicherung stammt von einer neueren Version. Aktualisieren Sie Antway, und versuchen Sie es erneut.',
    limits: 'Diese Sicherung verlangt mehr Arbeit oder Platz als jede, die Antway erstellt.',
    passphrase: 'Die Passphrase ist falsch, oder der Anfang der Datei wurde verändert.',
    truncated: 'Das Ende dieser Sicherung fehlt. Verwenden Sie eine vollständige Kopie.',
    modified:
      'Diese Sicherung ist beschädigt: Ihr Inhalt wurde verändert, oder ihr Ende fehlt. Verwenden Sie eine gute Kopie.',
  },
};
