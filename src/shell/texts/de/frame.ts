import type { Texts } from '../en/index.ts';

/** German: the frame around all screens, and texts that several screens share. */
export const frame: Pick<Texts, 'appName' | 'nav' | 'common' | 'status' | 'notices'> = {
  appName: 'Antway',

  nav: {
    label: 'Bereiche',
    skip: 'Zum Inhalt',
    open: 'Öffnen',
    library: 'Bibliothek',
    live: 'Live',
    publish: 'Veröffentlichen',
    settings: 'Einstellungen',
  },

  common: {
    chunks: (count, formatted) => `${formatted} ${count === 1 ? 'Chunk' : 'Chunks'}`,
    files: (count, formatted) => `${formatted} ${count === 1 ? 'Datei' : 'Dateien'}`,
    notUpToDate: 'Nicht aktuell',
    notKnownYet: 'Bekannt, sobald das Gateway läuft.',
    cancel: 'Abbrechen',
    copy: 'Kopieren',
    copied: 'Kopiert.',
    notCopied: 'Der Browser hat es nicht erlaubt: Markieren und kopieren Sie den Text selbst.',
    reload: 'Neu laden',
    save: 'Speichern',
    startPage: 'Startseite',
    tryAgain: 'Noch einmal versuchen',
  },

  status: {
    starting: 'Das Gateway startet …',
    bypassed: 'Diese Seite wurde am Gateway vorbei geladen.',
    failed: 'Das Gateway läuft nicht',
    fault: 'Läuft, aber mit einem Problem',
    offline: 'Offline: Gesehenes öffnet sich weiterhin',
    noPeer: 'Läuft, aber ohne Peer',
    noPeerAnswers: 'Läuft, aber kein Peer antwortet',
    nothingKept: 'Läuft, aber dieser Browser bewahrt nichts auf',
    running: 'Gateway läuft',
    configRefused: 'Die neue Konfiguration des Hosts wird nicht verwendet',
    siteUnreachable:
      'Der Ursprung dieser Seite antwortet nicht. Prüfen Sie, ob ihr Host erreichbar ist, und versuchen Sie es erneut.',
    sitePartitioned: (url: string) =>
      `Dieser Browser trennt den Speicher dieser Seite von dem des Gateways. Verwalten Sie die Seite unter ${url}.`,
    noWorker: 'Das Gateway steuert diese Seite noch nicht.',
  },

  notices: {
    update: 'Aktualisierung bereit: Neu laden, um die neue Version von Antway zu verwenden.',
    updateWaits: (running) =>
      running === 1
        ? 'Aktualisierung bereit. Diese Seite lädt neu, sobald eine laufende Übertragung beendet ist.'
        : `Aktualisierung bereit. Diese Seite lädt neu, sobald ${running} laufende Übertragungen beendet sind.`,
    updateWaitsForPublishing:
      'Aktualisierung bereit. Diese Seite lädt neu, sobald das Veröffentlichen beendet ist.',
    updateHandsOver:
      'Die neue Version übernimmt. Was noch an einen anderen Tab gesendet wird, kann sie einige Minuten aufhalten.',
    updatedElsewhere:
      'Antway wurde in einem anderen Tab aktualisiert. Laden Sie auch diese Seite neu, wenn Sie hier fertig sind.',
    updateNow: 'Neu laden',
    updateAnyway: 'Trotzdem neu laden',
    install: 'Installiert öffnet sich Antway in einem eigenen Fenster, auch offline.',
    installNow: 'Installieren',
    dismiss: 'Jetzt nicht',
  },
};
