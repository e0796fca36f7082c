import type { Texts } from '../en/index.ts';

/** German: the live screen. */
export const live: Texts['live'] = {
  title: 'Live',
  intro: 'Was das Gateway gerade tut.',
  view: 'Zahlen von',
  viewAll: 'Alles in diesem Gateway',
  viewOwn: 'Origin des Gateways',
  viewAllNote: 'Die Origin des Gateways und die Seiten, die eine eigene haben, zusammen.',
  viewAllNoteMore: (count) =>
    `Die Origin des Gateways und die ${count} zuletzt geöffneten Seiten, die eine eigene haben, zusammen.`,
  viewOwnNote: 'Was auf der Origin des Gateways geöffnet wurde. Seiten mit eigener Origin zählen hier nicht.',
  viewSiteNote: 'Wie es die Origin dieser Seite berichtet.',
  siteMissing: (title) => `${title} fehlt hier`,
  siteOld: (title) => `Die Zahlen von ${title} sind alt`,
  siteOdd: 'Die Origin dieser Seite berichtet keine Zahlen, die das Gateway versteht.',
  activity: 'Aktivität',
  requests: 'Anfragen',
  active: 'Laufend',
  failed: 'Gescheitert',
  served: 'Geliefert',
  failedByReason: 'Gescheiterte Anfragen nach Grund',
  since: (time) => `Seit ${time}, als der Browser das Gateway zuletzt gestartet hat.`,
  sinceEach: (time) =>
    `Seit der Browser das Gateway zuletzt gestartet hat: auf jeder Origin zu einer eigenen Zeit, zuerst um ${time}.`,
  throughput: 'Durchsatz',
  now: 'an Seiten, jetzt',
  chart: (peak) => `Durchsatz der letzten Minute; der höchste war ${peak} je Sekunde.`,
  latency: 'Antwortzeiten',
  firstByte: 'Erstes Byte',
  whole: 'Ganze Antwort',
  percentile: (percent) => `${percent} %`,
  map: 'Chunks der Datei, die gelesen wird',
  mapNone:
    'Es wird nichts gelesen. Öffnen Sie in einem anderen Tab einen Film oder einen Download, dann erscheinen seine Chunks hier.',
  mapOwnOnly: 'Dateien, die Seiten auf eigenen Origins lesen, erscheinen hier nicht.',
  mapOf: (size, chunks) => `${size} in ${chunks}`,
  mapLabel: (have, all) => `${have} von ${all} Chunks sind hier.`,
  mapLegend: {
    peer: 'von einem Peer',
    disk: 'aus dem Speicher',
    memory: 'aus dem Arbeitsspeicher',
    wait: 'unterwegs',
    none: 'nicht angefragt',
  },
  sources: 'Woher Chunks kamen',
  fromMemory: (count) => `Chunks, die noch offen im Arbeitsspeicher lagen: ${count}×`,
  disk: 'Speicher dieses Browsers',
  noPeers: 'Es ist kein Peer eingestellt: Nur was hier gespeichert ist, lässt sich öffnen.',
  peers: 'Peers',
  peersOwnState:
    'Der Zustand ist der von den Verbindungen der Origin des Gateways. Jede Seite hat eigene Verbindungen.',
  peerColumns: {
    peer: 'Peer',
    state: 'Zustand',
    rtt: 'Erstes Byte',
    speed: 'Tempo',
    chunks: 'Chunks',
    errors: 'Fehler',
  },
  peerStates: {
    idle: 'nicht verbunden',
    webtransport: 'verbunden über WebTransport',
    http: 'verbunden über HTTP',
    unreachable: 'nicht erreichbar',
    banned: 'ausgelassen: sandte falsche Bytes',
    gone: 'nicht mehr verwendet',
  },
  storage: 'In diesem Browser gespeichert',
  storageNone:
    'Dieser Browser lässt das Gateway nichts speichern, wie in einem privaten Fenster. Seiten öffnen sich, aber nicht offline.',
  ofCeiling: (bytes, ceiling) => `${bytes} von ${ceiling}`,
  chunksStored: (chunks) => `${chunks}, wie Peers sie haben`,
  storageUsed: 'Belegter Speicher',
  quota: (quota) => `Der Browser gibt dieser Seite insgesamt ${quota}.`,
  elsewhere: (count, formatted, bytes) =>
    count === 0
      ? 'Nichts davon liegt auf Origins von Seiten.'
      : `${bytes} davon liegen auf ${count === 1 ? 'der Origin einer Seite' : `den Origins von ${formatted} Seiten`}, wie zuletzt berichtet.`,
  notPinned: 'Nicht angeheftet',
  pinned: (count, formatted, bytes) =>
    count === 0
      ? 'Nichts ist angeheftet.'
      : `${formatted} ${count === 1 ? 'Seite ist' : 'Seiten sind'} angeheftet, mit ${bytes}.`,
  persisted: 'Der Browser behält dies, bis Sie es löschen.',
  mayClear: 'Der Browser darf dies löschen, wenn der Datenträger voll ist.',
  persistedOwn: 'Der Browser behält, was auf der Origin des Gateways liegt, bis Sie es löschen.',
  mayClearOwn:
    'Der Browser darf löschen, was auf der Origin des Gateways liegt, wenn der Datenträger voll ist.',
  mayClearSites: (count, formatted) =>
    count === 1
      ? 'Der Browser darf 1 angeheftete Seite von sich aus löschen.'
      : `Der Browser darf ${formatted} angeheftete Seiten von sich aus löschen.`,
  askPersist: 'Bitten, es zu behalten',
  persistRefused:
    'Der Browser hat abgelehnt. Vielleicht willigt er ein, wenn Antway installiert ist oder mehr benutzt wird.',
  persistRefusedSite: 'Der Browser hat abgelehnt. Vielleicht willigt er ein, wenn die Seite selbst bittet.',
  persistThere: 'Dort bitten',
  copyStats: 'Als JSON kopieren',
  saveStats: 'Als JSON speichern',
  statsCopied: 'Die Zahlen wurden kopiert.',
};
