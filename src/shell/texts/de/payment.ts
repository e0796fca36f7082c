import type { payment as english } from '../en/payment.ts';

export const payment: typeof english = {
  relays: 'Peers, die es ins Netzwerk bringen',
  relaysNote:
    'Sie nehmen kein Geld und sehen nur verschlüsselte Chunks. Zwei prüfen einander: Wählen Sie, wenn es geht, zwei von verschiedenen Betreibern.',
  findingRelays: 'Ihre Peers werden gefragt …',
  noRelays: 'Keiner Ihrer Peers nimmt bezahlte Uploads an.',
  direct: 'Die Knoten des Netzwerks, direkt',
  directNote:
    'Diese Seite bringt es zu den Knoten, ohne Peer. Das dauert länger, und die Knoten erfahren Ihre IP-Adresse. Mit einem Peer prüfen sich beide gegenseitig.',
  directOff:
    'Die Knoten des Netzwerks können es ohne Peer annehmen. Erlauben Sie dafür „Direkte Verbindungen“ in den Einstellungen.',
  otherRelay: 'Ein anderer Peer, der es ins Netzwerk bringt',
  otherRelayPlaceholder: 'https://peer.example:4433',
  badRelay: 'Geben Sie eine https://-URL ohne Pfad ein, oder http:// auf diesem Computer.',
  noRelayChosen: 'Wählen Sie einen Peer oder die Knoten, um es ins Netzwerk zu bringen.',
  testChainTitle: 'Andere Kette',
  testChainField: 'Kette, Token und Vault',
  testChainNote: 'Nur zum Ausprobieren: id,token,vault. Leer bedeutet: das echte Netzwerk.',
  badChain: 'Eine Kette hat die Form id,token,vault, mit den Adressen der beiden Verträge.',
  isTestChain: (id) =>
    `Kette ${id} ist eine Testkette. Zahlungen dort haben keinen Wert, und der Inhalt ist nicht im echten Netzwerk.`,
  isOtherChain: (id) =>
    `Kette ${id} ist nicht die Kette des Autonomi-Netzwerks. Zahlungen dort können einen Wert haben, und der Inhalt ist nicht in diesem Netzwerk.`,
  shared:
    'Bei diesem Gateway laufen Websites unter der Adresse des Gateways selbst. Deren Skripte könnten ändern, wofür Sie zahlen.',
  priceTitle: 'Was es kostet',
  total: (amount) => `${amount}, dazu die Gebühren der Kette`,
  records: (all, stored, paid) =>
    [
      all,
      ...(stored > 0 ? [`${stored} davon sind schon gespeichert`] : []),
      ...(paid > 0 ? [`${paid} sind schon bezahlt`] : []),
    ].join('; '),
  mostTotal: (amount) => `Höchstens ${amount}, dazu die Gebühren der Kette`,
  batched: (records, payments) =>
    `${payments === 1 ? 'Eine Zahlung gilt' : `${payments} Zahlungen gelten`} für ${records}. Das spart Gebühren. Die Kette wählt die Knoten aus, die bezahlt werden, deshalb kann es weniger kosten.`,
  unconfirmed: (nodes) =>
    `${nodes === 1 ? 'Einen' : nodes} dieser Knoten nennt nur der erste Peer. Ein unehrlicher Peer könnte ${nodes === 1 ? 'ihn' : 'sie'} erfunden haben und diesen Anteil der Zahlung bekommen.`,
  once: 'Sie zahlen einmal, und das Netzwerk speichert es auf Dauer. Niemand kann es später löschen, auch Sie nicht.',
  pointerOnce: 'Sie zahlen einmal für jeden neuen Stand. Das Netzwerk speichert ihn auf Dauer.',
  newState: 'den neuen Stand',
  missingTarget: (address) =>
    `Das Netzwerk hat den Inhalt noch nicht, zu dem dieser Stand führt: ${address}. Wer aus dem Netzwerk liest, sieht einen Fehler, bis der Inhalt dort ist. Gehen Sie zurück und veröffentlichen Sie ihn zuerst im Netzwerk, oder zahlen Sie trotzdem.`,
  newerState: (counter, target) =>
    `Seit Sie den Preis gesehen haben, hat diese Adresse einen neueren Stand (${counter}), der zu ${target} führt. Ihr Schlüssel hat ihn anderswo signiert. Nichts wurde bezahlt. Um ihn zu ersetzen, gehen Sie zurück und senden Sie das Formular noch einmal ab.`,
  frozenMeanwhile:
    'Seit Sie den Preis gesehen haben, wurde diese Adresse anderswo eingefroren. Nichts wurde bezahlt, und kein Stand kann den eingefrorenen ersetzen.',
  perFile: (count) => `Anteil jeder Datei (${count})`,
  perFileNote: 'Nach der Größe, denn Dateien teilen sich Datensätze.',
  perFileMore: (count) => `${count} weitere`,
  noWallet:
    'Dieser Browser hat keine Wallet. Installieren Sie eine, die die Kette Arbitrum One kennt, und laden Sie diese Seite neu, oder nehmen Sie den Befehl „antway“ mit der Option „--network“.',
  anyWallet: 'Wallet dieses Browsers',
  connect: (wallet) => `${wallet} verbinden`,
  walletsTitle: 'Zahlen mit',
  account: 'Konto',
  balance: 'Guthaben',
  fees: 'Gebühren (geschätzt)',
  limit: 'Höchstens zahlen (ANT)',
  badLimit: 'Geben Sie einen Betrag wie 0,5 ein.',
  belowLimit: 'Der Preis ist höher als das, was Sie höchstens zahlen wollen.',
  pay: (amount) => `${amount} zahlen`,
  otherWallet: 'Eine andere Wallet',
  back: 'Zurück',
  connecting: 'Antworten Sie in Ihrer Wallet …',
  checking: 'Antway fragt nach dem neuesten Stand der Adresse …',
  asking: 'Antway fragt die Kette …',
  approving: 'Ihre Wallet bittet um die Freigabe genau dieses Betrags …',
  paying: 'Ihre Wallet bittet um die Zahlung …',
  confirming: 'Die Kette bestätigt die Zahlung …',
  stop: 'Nicht länger warten',
  stopped:
    'Angehalten. Zeigt Ihre Wallet die Anfrage noch, lehnen Sie sie dort ab. Stimmen Sie ihr später zu, findet diese App das und fragt nicht noch einmal danach.',
  waiting: (account) =>
    `Eine frühere Zahlung von ${account} wartet vielleicht noch in Ihrer Wallet. Lehnen Sie sie dort ab, bevor Sie noch einmal zahlen.`,
  forget: 'Die Wallet zeigt sie nicht mehr an: Zahlung vergessen',
  busy: 'Ein anderer Tab dieser App zahlt gerade. Schließen Sie das zuerst dort ab.',
  unseen: (records) =>
    `Die Knoten haben die Zahlung für ${records} nicht gesehen. Verbinden Sie die Wallet, die gezahlt hat: Die App fragt dann die Kette, ob sie die Zahlung noch hat.`,
  lost: 'Die Kette hat eine frühere Zahlung mit einem Block verloren. Sie ist deshalb wieder fällig. Gehen Sie zurück, und fragen Sie noch einmal nach dem Preis.',
  newChain: 'Die Testkette wurde neu gestartet. Fragen Sie noch einmal nach dem Preis.',
  unfinishedTitle: 'Bezahlt und noch nicht gespeichert',
  unfinished: (name) =>
    `${name}: Die Zahlung ist vermerkt. Wählen Sie dieselben Dateien noch einmal, um den Upload abzuschließen. Nichts wird doppelt bezahlt.`,
  unnamed: 'Ein Upload',
  unfinishedPointer: (name) =>
    `Die bleibende Adresse „${name}“: Die Zahlung für einen neuen Stand ist vermerkt. Nehmen Sie dieselbe Änderung noch einmal vor. Zeigt die Adresse die Änderung schon, wählen Sie dort „Noch einmal speichern…“. Nichts wird doppelt bezahlt.`,
  receipt: 'Beleg speichern',
  receiptNote: (amount, fees) => `Sie haben diesmal ${amount} und ${fees} Gebühren gezahlt.`,
};
