import type { PageTexts } from './texts.ts';

/** The German texts of the gateway's own pages. */
export const de: PageTexts = {
  language: 'de',
  errors: {
    BAD_ADDRESS: 'Das ist keine gültige Adresse',
    BAD_CONFIG: 'Dieses Gateway ist nicht richtig eingerichtet',
    BAD_RANGE: 'Diesen Teil gibt es nicht',
    METHOD: 'Inhalte können nur gelesen werden',
    NOT_FOUND: 'Nicht gefunden',
    DENIED: 'Diese Adresse ist auf diesem Gateway gesperrt',
    CORRUPT: 'Falsche Bytes wurden abgelehnt',
    UNSUPPORTED: 'Diese Art von Inhalt wird nicht unterstützt',
    PEERS_UNREACHABLE: 'Kein Peer antwortet',
    OFFLINE: 'Sie sind offline',
    TOO_LARGE: 'Das ist mehr, als das Gateway bewältigt',
    REFUSED: 'Das wurde abgelehnt',
    BUILD_MISMATCH: 'Die eigenen Dateien des Gateways sind beschädigt',
    HOST_UNREACHABLE: 'Die eigenen Dateien des Gateways fehlen',
    INTERNAL: 'Das Gateway hat versagt',
  },
  abouts: {
    BAD_ADDRESS: 'Eine Adresse hat 64 Hexadezimalziffern. Sehen Sie nach, ob der Link vollständig ist.',
    BAD_CONFIG: 'Wer dieses Gateway betreibt, muss seine Konfiguration berichtigen.',
    BAD_RANGE: 'Die Anfrage nennt Bytes hinter dem Ende der Datei.',
    METHOD: 'Was an einer Adresse steht, ändert sich nie.',
    NOT_FOUND: 'An dieser Adresse hat kein Peer etwas, oder es gibt dort keine Datei mit diesem Namen.',
    DENIED: 'Sie selbst oder der Betreiber dieses Gateways haben sie gesperrt.',
    CORRUPT: 'Was die Peers geschickt haben, passt nicht zur Adresse. Es wird nicht gezeigt.',
    UNSUPPORTED: 'Das Format ist unbekannt, oder neuer als dieses Gateway.',
    PEERS_UNREACHABLE: 'Keiner der Peers hat rechtzeitig geantwortet, und hier ist es nicht aufbewahrt.',
    OFFLINE: 'Was Sie öffnen wollten, ist nicht vollständig auf diesem Gerät.',
    TOO_LARGE: 'Eine der Grenzen des Gateways ist überschritten.',
    REFUSED: 'Das Gateway lässt diese Anfrage nicht zu, um diesen Browser und seine Daten zu schützen.',
    BUILD_MISMATCH: 'Eine Datei ist nicht die, mit der diese Version gebaut wurde. Sie wird nicht gezeigt.',
    HOST_UNREACHABLE: 'Eine Datei ist nicht auf diesem Gerät, und der Host hat sie nicht gegeben.',
    INTERNAL: 'Damit hat niemand gerechnet. Versuchen Sie es noch einmal.',
  },
  code: 'Code',
  address: 'Adresse',
  opensByItself: 'Diese Seite versucht es von selbst noch einmal, sobald es ein Netz gibt.',
  tryAgain: 'Noch einmal versuchen',
  backTo: (host) => `Zurück zu ${host}`,
  openAnother: 'Eine andere Adresse öffnen',

  nothingKept: 'Nichts davon ist auf diesem Gerät aufbewahrt.',
  kept(what, stored, total) {
    const of = what === null ? 'Davon' : what === 'site' ? 'Von der ganzen Seite' : `Von „${what.path}“`;
    if (total !== null) {
      return `${of} ${stored === 1 ? 'ist' : 'sind'} ${stored} von ${total} Chunks auf diesem Gerät.`;
    }
    const chunks = stored === 1 ? 'ist 1 Chunk' : `sind ${stored} Chunks`;
    return `${of} ${chunks} auf diesem Gerät; wie viele es insgesamt sind, steht in einem, der fehlt.`;
  },

  attempts: {
    caption: 'Was versucht wurde',
    peer: 'Peer',
    how: 'Wie',
    result: 'Ergebnis',
    time: 'Dauer',
  },
  stages: { connect: 'Verbinden', request: 'Anfragen', receive: 'Empfangen', verify: 'Prüfen' },

  contentsOf: (name) => `Inhalt von ${name}`,
  folders: (_, written) => `${written} Ordner`,
  files: (count, written) => `${written} ${count === 1 ? 'Datei' : 'Dateien'}`,
  asJson: 'Als JSON',
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
    heading: 'Erster Besuch auf dieser Seite',
    about:
      'In diesem Netz kann jeder veröffentlichen, und dieses Gateway zeigt alle Seiten unter einem Ursprung. Deshalb entscheiden Sie, ob diese hier Skripte ausführen darf, die Programme in ihren Dokumenten.',
    restrict: 'Ohne Skripte öffnen',
    restrictMeans:
      'Die Dokumente der Seite werden gezeigt, und nichts darin läuft. Das ist bei jeder Seite gefahrlos, und viele funktionieren ebenso gut.',
    trust: 'Dieser Seite vertrauen',
    trustMeans:
      'Die Skripte der Seite laufen. Sie teilen den Ursprung dieses Gateways und können deshalb auch lesen und ändern, was andere Seiten und das Gateway im Browser speichern, und sogar den Worker des Gateways entfernen. Das bestätigen Sie in einem zweiten Schritt.',
    remembered: 'Ihre Wahl wird auf diesem Gerät gemerkt.',
    change: 'Ändern können Sie sie auf der Startseite des Gateways',
    pointer: 'Diese Adresse ist ein Zeiger: Wem er gehört, kann jederzeit ändern, was er zeigt.',
    outdated: 'Ihre Antwort kam zu spät, deshalb fragt das Gateway noch einmal.',
  },
  confirmTrust: {
    heading: 'Die Skripte dieser Seite ausführen?',
    about:
      'Vertrauen Sie nur dem, was Sie auch installieren würden. Eine Seite, der Sie vertrauen, kann die Daten anderer Seiten lesen, die Einstellungen des Gateways ändern und seinen Worker entfernen.',
    trust: 'Ja, Skripte ausführen',
    pointer: 'Wem der Zeiger gehört, kann andere Versionen mit anderen Skripten veröffentlichen.',
    version: 'Ja, nur bei dieser Version',
    owner: 'Ja, bei jeder Version von diesem Eigentümer',
  },
};
