import type { Texts } from '../en/index.ts';

export const live: Texts['live'] = {
  title: 'Live',
  intro: 'Jeder Chunk wird auf dem Weg von den Peers zu Ihren Seiten geprüft. Sehen Sie zu.',
  lifetime: 'Bisher geprüft',
  verified: (bytes) => `${bytes} geprüft`,
  badChunks: (count, formatted) => `${formatted} ${count === 1 ? 'falscher Chunk' : 'falsche Chunks'}`,
  lifetimeNote: (chunks, since) => `${chunks} von Peers seit ${since}, in diesem Browser.`,
  resetStats: 'Statistik zurücksetzen',
  resetDone: 'Die Statistik beginnt wieder bei 0.',
  view: 'Zahlen anzeigen für',
  viewAll: 'Alles in diesem Gateway',
  viewOwn: 'Eigener Ursprung des Gateways',
  viewAllNote: 'Die Summe aus dem Ursprung des Gateways und den Websites mit eigenem Ursprung.',
  viewAllNoteMore: (count) =>
    `Die Summe aus dem Ursprung des Gateways und den ${count} zuletzt geöffneten Websites mit eigenem Ursprung.`,
  viewOwnNote:
    'Websites und Dateien auf dem Ursprung des Gateways. Websites mit eigenem Ursprung zählen hier nicht.',
  viewSiteNote: 'Diese Zahlen meldet der Ursprung dieser Website.',
  siteMissing: (title) => `${title} fehlt hier`,
  siteOld: (title) => `Die Zahlen von ${title} sind veraltet`,
  siteOdd: 'Der Ursprung dieser Website meldet Zahlen, die das Gateway nicht versteht.',
  activity: 'Aktivität',
  requests: 'Anfragen',
  active: 'Aktiv',
  failed: 'Fehlgeschlagen',
  served: 'Ausgeliefert',
  failedByReason: 'Fehlgeschlagene Anfragen nach Grund',
  since: (time) => `Antwortzeiten seit ${time}, als der Browser das Gateway zuletzt gestartet hat.`,
  sinceEach: (time) =>
    `Antwortzeiten, seit der Browser das Gateway zuletzt gestartet hat. Jeder Ursprung wurde zu einer anderen Zeit gestartet, der erste um ${time}.`,
  throughput: 'Durchsatz',
  fromPeers: 'Von Peers',
  toPages: 'An Seiten',
  rateNow: 'Jetzt',
  rateAverage: 'Mittel',
  ratePeak: 'Spitze',
  averageNote: 'Das Mittel gilt für die Sekunden mit Verkehr. Die letzten zwei Minuten bleiben erhalten.',
  chart: (fromPeers, toPages) =>
    `Durchsatz der letzten zwei Minuten. Von Peers war die Spitze ${fromPeers} pro Sekunde, an Seiten ${toPages} pro Sekunde.`,
  chartPeak: (rate) => `Spitze ${rate}`,
  chartAverage: (rate) => `Mittel ${rate}`,
  chartNow: 'jetzt',
  transfers: 'Übertragungen',
  transfersNone:
    'Gerade wird nichts übertragen. Öffnen Sie in einem anderen Tab eine Website oder ein Video, um es hier zu sehen.',
  transfersMore: (count, formatted) =>
    count === 1 ? 'Eine weitere Übertragung läuft.' : `${formatted} weitere Übertragungen laufen.`,
  transferDone: (rate) => `Vollständig, mit ${rate}`,
  transferFailed: 'Fehlgeschlagen',
  transferLeft: 'Von der Seite beendet',
  transferWaits: 'Wartet',
  timeLeft: (rate, time) => `${rate}, noch ${time}`,
  progressOf: (name) => `Fortschritt von ${name}`,
  chunksFromPeers: (count) => `${count} von Peers`,
  chunksFromDisk: (count) => `${count} aus dem Speicher`,
  chunksFromMemory: 'aus dem Arbeitsspeicher',
  latency: 'Antwortzeiten',
  firstByte: 'Erstes Byte',
  whole: 'Vollständige Antwort',
  speeds: { typical: 'Typisch', slow: 'Langsam', worst: 'Am langsamsten' },
  speedsNote: 'Langsam: 1 von 20 dauert länger. Am langsamsten: 1 von 100 dauert länger.',
  map: 'Chunks der Datei, die gerade gelesen wird',
  mapNone:
    'Es wird keine Datei gelesen. Öffnen Sie in einem anderen Tab ein Video oder einen Download, um die Chunks hier zu sehen.',
  mapOwnOnly: 'Dateien, die Websites auf eigenen Ursprüngen lesen, erscheinen hier nicht.',
  mapOf: (size, chunks) => `${size} in ${chunks}`,
  mapLabel: (have, all) => `${have} von ${all} Chunks sind hier.`,
  mapLegend: {
    peer: 'von einem Peer',
    disk: 'aus dem Speicher',
    memory: 'aus dem Arbeitsspeicher',
    wait: 'angefragt',
    none: 'nicht angefragt',
  },
  sources: 'Chunks unterwegs',
  fromMemory: (count) => `Chunks, die noch entschlüsselt im Arbeitsspeicher lagen: ${count}×`,
  nodes: 'Knoten des Netzwerks',
  disk: 'Speicher dieses Browsers',
  noPeers: 'Es ist kein Peer eingestellt: Nur hier Gespeichertes lässt sich öffnen.',
  peers: 'Peers',
  peersOwnState: 'Der Zustand gilt für die Verbindungen des Gateways. Jede Website hat eigene Verbindungen.',
  peerColumns: {
    peer: 'Peer',
    state: 'Zustand',
    rtt: 'Erstes Byte',
    speed: 'Geschwindigkeit',
    chunks: 'Chunks',
    errors: 'Fehler',
  },
  peerStates: {
    idle: 'nicht verbunden',
    webtransport: 'verbunden über WebTransport',
    http: 'verbunden über HTTP',
    unreachable: 'nicht erreichbar',
    banned: 'ausgeschlossen: hat falsche Bytes gesendet',
    gone: 'nicht mehr verwendet',
  },
  storage: 'In diesem Browser gespeichert',
  storageNone:
    'Dieser Browser lässt das Gateway nichts speichern, zum Beispiel in einem privaten Fenster. Websites lassen sich öffnen, aber nicht offline.',
  ofCeiling: (bytes, ceiling) => `${bytes} von ${ceiling}`,
  chunksStored: (chunks) => `${chunks}, verschlüsselt`,
  storageUsed: 'Belegter Speicher',
  quota: (quota) => `Der Browser erlaubt dieser Website insgesamt ${quota}.`,
  atOwnOrigins: (count, formatted, bytes) =>
    count === 0
      ? 'Nichts davon liegt auf Ursprüngen von Websites.'
      : `${bytes} davon liegen auf ${count === 1 ? 'dem Ursprung einer Website' : `den Ursprüngen von ${formatted} Websites`}, laut den letzten Meldungen.`,
  notPinned: 'Nicht angeheftet',
  pinned: (count, formatted, bytes) =>
    count === 0
      ? 'Nichts ist angeheftet.'
      : `${formatted} ${count === 1 ? 'Website ist' : 'Websites sind'} angeheftet, mit ${bytes}.`,
  persisted: 'Der Browser behält diese Daten, bis Sie sie löschen.',
  mayClear: 'Der Browser kann diese Daten löschen, wenn der Datenträger voll ist.',
  persistedOwn: 'Der Browser behält die Daten auf dem Ursprung des Gateways, bis Sie sie löschen.',
  mayClearOwn:
    'Der Browser kann die Daten auf dem Ursprung des Gateways löschen, wenn der Datenträger voll ist.',
  mayClearSites: (count, formatted) =>
    count === 1
      ? 'Der Browser kann 1 angeheftete Website löschen, wenn der Datenträger voll ist.'
      : `Der Browser kann ${formatted} angeheftete Websites löschen, wenn der Datenträger voll ist.`,
  askPersist: 'Um dauerhaften Speicher bitten',
  persistRefused:
    'Der Browser hat abgelehnt. Vielleicht stimmt er zu, wenn Antway installiert ist oder häufiger benutzt wird.',
  persistRefusedSite: 'Der Browser hat abgelehnt. Vielleicht stimmt er zu, wenn die Website selbst fragt.',
  persistThere: 'Auf der Website selbst fragen',
  copyStats: 'Als JSON kopieren',
  saveStats: 'Als JSON speichern',
  statsCopied: 'Die Zahlen wurden kopiert.',
};
