import type { PageTexts } from './texts.ts';

export const de: PageTexts = {
  language: 'de',
  errors: {
    BAD_ADDRESS: 'Das ist keine gültige Adresse',
    BAD_CONFIG: 'Dieses Gateway ist nicht richtig eingerichtet',
    BAD_RANGE: 'Den angeforderten Teil gibt es nicht',
    METHOD: 'Inhalte können nur gelesen werden',
    NOT_FOUND: 'Nicht gefunden',
    DENIED: 'Diese Adresse ist auf diesem Gateway gesperrt',
    CORRUPT: 'Die Peers haben falsche Bytes gesendet',
    UNSUPPORTED: 'Diese Art von Inhalt wird nicht unterstützt',
    PEERS_UNREACHABLE: 'Kein Peer antwortet',
    OFFLINE: 'Sie sind offline',
    TOO_LARGE: 'Das ist zu groß für das Gateway',
    REFUSED: 'Diese Anfrage wurde abgelehnt',
    BUILD_MISMATCH: 'Die eigenen Dateien des Gateways sind beschädigt',
    HOST_UNREACHABLE: 'Die eigenen Dateien des Gateways fehlen',
    INTERNAL: 'Im Gateway ist ein Fehler aufgetreten',
  },
  abouts: {
    BAD_ADDRESS: 'Eine Adresse hat 64 Hexadezimalziffern. Prüfen Sie, ob der Link vollständig ist.',
    BAD_CONFIG: 'Der Betreiber dieses Gateways muss die Konfiguration berichtigen.',
    BAD_RANGE: 'Die Anfrage nennt Bytes hinter dem Ende der Datei.',
    METHOD: 'Seiten können Inhalte mit GET und HEAD lesen, aber nicht ändern.',
    NOT_FOUND: 'An dieser Adresse wurde nichts gefunden.',
    DENIED: 'Sie selbst oder der Betreiber dieses Gateways haben sie gesperrt.',
    CORRUPT: 'Die Daten der Peers passen nicht zur Adresse. Das Gateway zeigt sie nicht.',
    UNSUPPORTED: 'Das Format ist unbekannt oder neuer als dieses Gateway.',
    PEERS_UNREACHABLE:
      'Kein Peer hat rechtzeitig geantwortet, und der Inhalt ist nicht auf diesem Gerät gespeichert.',
    OFFLINE: 'Der Inhalt ist nicht vollständig auf diesem Gerät gespeichert.',
    TOO_LARGE: 'Der Inhalt überschreitet eine Grenze des Gateways.',
    REFUSED: 'Das Gateway lässt diese Anfrage nicht zu, um diesen Browser und seine Daten zu schützen.',
    BUILD_MISMATCH: 'Eine Datei gehört nicht zu dieser Version. Das Gateway zeigt sie nicht.',
    HOST_UNREACHABLE: 'Eine Datei fehlt auf diesem Gerät, und der Host hat sie nicht geliefert.',
    INTERNAL: 'Versuchen Sie es erneut.',
  },
  missing: (path) => `Diese Website hat keine Datei „${path}“.`,
  saving: { title: 'Der Browser speichert diese Datei', save: 'Datei speichern' },
  opening: { title: 'Die Website wird geöffnet', open: 'Website öffnen' },
  siteStart: 'Startseite dieser Website',
  filesOf: (folder) => (folder === '' ? 'Dateien dieser Website' : `Dateien in ${folder}`),
  details: 'Einzelheiten',
  deniedByPeers: {
    title: 'Peers haben diese Adresse gesperrt',
    about:
      'Kein Peer dieses Gateways liefert sie: Die Betreiber haben sie gesperrt, oder die Peers haben sie nicht.',
  },
  absentSomewhere: {
    title: 'Bisher nicht gefunden',
    about:
      'Kein Peer, der geantwortet hat, hat den Inhalt. Andere Peers oder die Knoten des Netzwerks haben nicht rechtzeitig geantwortet.',
  },
  code: 'Code',
  address: 'Adresse',
  opensByItself: 'Diese Seite versucht es erneut, sobald die Verbindung zurück ist.',
  tryAgain: 'Erneut versuchen',
  backTo: (host) => `Zurück zu ${host}`,
  openAnother: 'Eine andere Adresse öffnen',

  noneStored: 'Nichts davon ist auf diesem Gerät gespeichert.',
  stored(what, stored, total) {
    const of = what === null ? 'Davon' : what === 'site' ? 'Von der ganzen Website' : `Von „${what.path}“`;
    if (total !== null) {
      return `${of} ${stored === 1 ? 'ist' : 'sind'} ${stored} von ${total} Chunks auf diesem Gerät gespeichert.`;
    }
    const chunks = stored === 1 ? 'ist 1 Chunk' : `sind ${stored} Chunks`;
    return `${of} ${chunks} auf diesem Gerät gespeichert. Die Gesamtzahl ist noch nicht bekannt.`;
  },

  attempts: {
    caption: 'Versuche',
    peer: 'Peer',
    how: 'Wie',
    result: 'Ergebnis',
    time: 'Dauer',
  },
  stages: {
    connect: 'beim Verbinden',
    request: 'beim Anfragen',
    receive: 'beim Empfangen',
    verify: 'beim Prüfen',
  },

  progress: {
    title: 'Dieser Inhalt wird gesucht',
    about: 'Die Peers suchen ihn. Die Seite öffnet sich von selbst, sobald sie ihn gefunden haben.',
    waited: ['Wartezeit bisher:', 'Sekunden.'],
    usual: 'Inhalte, die lange niemand geöffnet hat, brauchen oft 5 bis 15 Sekunden.',
    peers: 'Gefragt:',
    cancel: 'Abbrechen',
  },
  network: {
    connected: (name, nodes) =>
      `mit dem Netzwerk „${name}“ verbunden${nodes === null ? '' : `, über ${nodes} Knoten`}`,
    notConnected: (name, isConnecting) =>
      isConnecting
        ? `verbindet sich noch mit dem Netzwerk „${name}“`
        : `nicht mit dem Netzwerk „${name}“ verbunden`,
    none: 'Kein Peer meldet eine Verbindung zum Netzwerk. Ein solcher Peer hat meist nur, was bei ihm veröffentlicht wurde.',
    store: 'liefert, was er gespeichert hat',
    silent: 'nennt keine Verbindung zu einem Netzwerk',
    noAnswer: 'hat nicht geantwortet',
    blocks: 'hat diese Adresse gesperrt',
    program: 'liest aus dem Autonomi-Netzwerk',
    addPeer: 'Peer hinzufügen',
    connectAntTp: ['AntTP verbinden', ', wenn es auf diesem Computer läuft'],
    run: 'Oder erreichen Sie das Netzwerk von diesem Computer aus:',
    searched: 'Auch das Netzwerk wurde durchsucht. Prüfen Sie, ob die Adresse vollständig ist.',
    incomplete:
      'Die Suche im Netzwerk wurde nicht rechtzeitig fertig. Ein weiterer Versuch kann den Inhalt finden.',
    notSearched:
      'Das Netzwerk wurde nicht durchsucht, weil gerade kein Peer mit ihm verbunden ist. Versuchen Sie es später erneut.',
  },

  report: 'Diese Website dem Betreiber des Gateways melden',

  contentsOf: (name) => `Inhalt von ${name}`,
  folders: (_, written) => `${written} Ordner`,
  files: (count, written) => `${written} ${count === 1 ? 'Datei' : 'Dateien'}`,
  asJson: 'Als JSON',
  inApp: 'in der App',
  asTar: 'als Tar',
  name: 'Name',
  size: 'Größe',
  up: '(nach oben)',
  notServed: 'Nicht ausgeliefert',
  refused: (count, written) =>
    count === 1
      ? '1 Eintrag dieses Archivs kann nicht ausgeliefert werden:'
      : `${written} Einträge dieses Archivs können nicht ausgeliefert werden:`,
  andMore: (count) => `und ${count} weitere`,

  firstVisit: {
    title: 'Erster Besuch',
    heading: 'Erster Besuch auf dieser Website',
    about:
      'In diesem Netzwerk kann jeder veröffentlichen, und dieses Gateway zeigt alle Websites unter einem Ursprung. Deshalb entscheiden Sie, ob diese Website Skripte ausführen darf, die Programme in ihren Dokumenten.',
    restrict: 'Ohne Skripte öffnen',
    restrictMeans:
      'Das Gateway zeigt die Dokumente der Website, und keine Programme darin laufen. Das ist bei jeder Website sicher, und viele Websites funktionieren ebenso gut.',
    trust: 'Dieser Website vertrauen',
    trustMeans:
      'Die Skripte der Website laufen. Sie können auch die Daten anderer Websites und des Gateways in diesem Browser lesen und ändern. Das bestätigen Sie in einem zweiten Schritt.',
    remembered: 'Dieses Gerät merkt sich Ihre Wahl.',
    change: 'Sie können sie in den Einstellungen des Gateways ändern',
    pointer: 'Das ist eine bleibende Adresse: Ihr Eigentümer kann jederzeit ändern, was sie zeigt.',
    outdated: 'Ihre Antwort kam zu spät, deshalb fragt das Gateway erneut.',
  },
  confirmTrust: {
    heading: 'Die Skripte dieser Website ausführen?',
    about:
      'Vertrauen Sie nur Websites, deren Programme Sie auch installieren würden. Eine Website, der Sie vertrauen, kann die Daten anderer Websites lesen, die Einstellungen des Gateways ändern und seinen Worker entfernen.',
    trust: 'Ja, Skripte ausführen',
    pointer:
      'Der Eigentümer dieser bleibenden Adresse kann andere Versionen mit anderen Skripten veröffentlichen.',
    version: 'Ja, nur für diese Version',
    owner: 'Ja, für jede Version dieses Eigentümers',
  },
};
