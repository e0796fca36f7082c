import type { Texts } from '../en/index.ts';

export const live: Texts['live'] = {
  title: 'Live',
  intro: 'Die aktuelle Tätigkeit des Gateways.',
  view: 'Zahlen von',
  viewAll: 'Alles in diesem Gateway',
  viewOwn: 'Eigener Ursprung des Gateways',
  viewAllNote: 'Die Summe aus dem Ursprung des Gateways und den Seiten mit eigenem Ursprung.',
  viewAllNoteMore: (count) =>
    `Die Summe aus dem Ursprung des Gateways und den ${count} zuletzt geöffneten Seiten mit eigenem Ursprung.`,
  viewOwnNote:
    'Seiten und Dateien auf dem Ursprung des Gateways. Seiten mit eigenem Ursprung zählen hier nicht.',
  viewSiteNote: 'Diese Zahlen meldet der Ursprung dieser Seite.',
  siteMissing: (title) => `${title} fehlt hier`,
  siteOld: (title) => `Die Zahlen von ${title} sind veraltet`,
  siteOdd: 'Der Ursprung dieser Seite meldet Zahlen, die das Gateway nicht versteht.',
  activity: 'Aktivität',
  requests: 'Anfragen',
  active: 'Aktiv',
  failed: 'Fehlgeschlagen',
  served: 'Ausgeliefert',
  failedByReason: 'Fehlgeschlagene Anfragen nach Grund',
  since: (time) => `Seit ${time}, als der Browser das Gateway zuletzt gestartet hat.`,
  sinceEach: (time) =>
    `Seit der Browser das Gateway zuletzt gestartet hat. Jeder Ursprung wurde zu einer anderen Zeit gestartet, der erste um ${time}.`,
  throughput: 'Durchsatz',
  now: 'an Seiten, jetzt',
  chart: (peak) => `Durchsatz der letzten Minute. Der Höchstwert war ${peak} pro Sekunde.`,
  latency: 'Antwortzeiten',
  firstByte: 'Erstes Byte',
  whole: 'Vollständige Antwort',
  percentile: (percent) => `${percent} %`,
  map: 'Chunks der Datei, die gerade gelesen wird',
  mapNone:
    'Es wird keine Datei gelesen. Öffnen Sie in einem anderen Tab ein Video oder einen Download, um die Chunks hier zu sehen.',
  mapOwnOnly: 'Dateien, die Seiten auf eigenen Ursprüngen lesen, erscheinen hier nicht.',
  mapOf: (size, chunks) => `${size} in ${chunks}`,
  mapLabel: (have, all) => `${have} von ${all} Chunks sind hier.`,
  mapLegend: {
    peer: 'von einem Peer',
    disk: 'aus dem Speicher',
    memory: 'aus dem Arbeitsspeicher',
    wait: 'angefragt',
    none: 'nicht angefragt',
  },
  sources: 'Quellen der Chunks',
  fromMemory: (count) => `Chunks, die noch entschlüsselt im Arbeitsspeicher lagen: ${count}×`,
  disk: 'Speicher dieses Browsers',
  noPeers: 'Es ist kein Peer eingestellt: Nur hier Gespeichertes lässt sich öffnen.',
  peers: 'Peers',
  peersOwnState: 'Der Zustand gilt für die Verbindungen des Gateways. Jede Seite hat eigene Verbindungen.',
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
    'Dieser Browser lässt das Gateway nichts speichern, zum Beispiel in einem privaten Fenster. Seiten lassen sich öffnen, aber nicht offline.',
  ofCeiling: (bytes, ceiling) => `${bytes} von ${ceiling}`,
  chunksStored: (chunks) => `${chunks}, verschlüsselt`,
  storageUsed: 'Belegter Speicher',
  quota: (quota) => `Der Browser gibt dieser Website insgesamt ${quota}.`,
  elsewhere: (count, formatted, bytes) =>
    count === 0
      ? 'Nichts davon liegt auf Ursprüngen von Seiten.'
      : `${bytes} davon liegen auf ${count === 1 ? 'dem Ursprung einer Seite' : `den Ursprüngen von ${formatted} Seiten`}, laut den letzten Meldungen.`,
  notPinned: 'Nicht angeheftet',
  pinned: (count, formatted, bytes) =>
    count === 0
      ? 'Nichts ist angeheftet.'
      : `${formatted} ${count === 1 ? 'Seite ist' : 'Seiten sind'} angeheftet, mit ${bytes}.`,
  persisted: 'Der Browser behält diese Daten, bis Sie sie löschen.',
  mayClear: 'Der Browser darf diese Daten löschen, wenn der Datenträger voll ist.',
  persistedOwn: 'Der Browser behält die Daten auf dem Ursprung des Gateways, bis Sie sie löschen.',
  mayClearOwn:
    'Der Browser darf die Daten auf dem Ursprung des Gateways löschen, wenn der Datenträger voll ist.',
  mayClearSites: (count, formatted) =>
    count === 1
      ? 'Der Browser darf 1 angeheftete Seite löschen, wenn der Datenträger voll ist.'
      : `Der Browser darf ${formatted} angeheftete Seiten löschen, wenn der Datenträger voll ist.`,
  askPersist: 'Um dauerhaften Speicher bitten',
  persistRefused:
    'Der Browser hat abgelehnt. Vielleicht stimmt er zu, wenn Antway installiert ist oder häufiger benutzt wird.',
  persistRefusedSite: 'Der Browser hat abgelehnt. Vielleicht stimmt er zu, wenn die Seite selbst fragt.',
  persistThere: 'Auf der Seite selbst fragen',
  copyStats: 'Als JSON kopieren',
  saveStats: 'Als JSON speichern',
  statsCopied: 'Die Zahlen wurden kopiert.',
};
