import type { Texts } from '../en/index.ts';

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
    notKnownYet: 'Wird angezeigt, sobald das Gateway läuft.',
    cancel: 'Abbrechen',
    copy: 'Kopieren',
    copied: 'Kopiert.',
    notCopied: 'Der Browser hat es nicht erlaubt: Markieren und kopieren Sie den Text selbst.',
    reload: 'Neu laden',
    save: 'Speichern',
    share: 'Teilen',
    startPage: 'Startseite',
    tryAgain: 'Erneut versuchen',
  },

  status: {
    starting: 'Das Gateway startet …',
    bypassed: 'Diese Seite wurde ohne das Gateway geladen.',
    failed: 'Das Gateway läuft nicht',
    fault: 'Läuft, aber mit einem Problem',
    notStoring: 'Dieser Browser speichert nichts',
    configWrong:
      'Dieses Gateway kann gerade keine Inhalte zeigen, weil sein Host keine gültige Konfiguration schickt. Sie müssen nichts tun: Es geht hier von selbst weiter, wenn der Betreiber das berichtigt hat. Für den Betreiber',
    configRefused:
      'Der Host schickt gerade keine gültige Konfiguration. Darum gilt die frühere weiter. Sie müssen nichts tun. Für den Betreiber',
    siteUnreachable:
      'Der Ursprung dieser Website antwortet nicht. Prüfen Sie, ob ihr Host erreichbar ist, und versuchen Sie es erneut.',
    sitePartitioned: (url: string) =>
      `Dieser Browser trennt den Speicher dieser Website von dem des Gateways. Verwalten Sie die Website unter ${url}.`,
    noWorker: 'Das Gateway steuert diese Seite noch nicht.',
  },

  notices: {
    update: 'Aktualisierung bereit: Laden Sie neu, um die neue Version von Antway zu verwenden.',
    updateWaits: (running) =>
      `Aktualisierung bereit. Diese Seite lädt neu, sobald ${running === 1 ? 'eine laufende Übertragung beendet ist' : `${running} laufende Übertragungen beendet sind`}.`,
    updateWaitsForPublishing:
      'Aktualisierung bereit. Diese Seite lädt neu, sobald das Veröffentlichen beendet ist.',
    updateHandsOver:
      'Die neue Version übernimmt. Übertragungen an andere Tabs können sie einige Minuten aufhalten.',
    updatedElsewhere:
      'Antway wurde in einem anderen Tab aktualisiert. Laden Sie auch diese Seite neu, wenn Sie hier fertig sind.',
    updateNow: 'Neu laden',
    updateAnyway: 'Trotzdem neu laden',
    install: 'Installieren Sie Antway, um es in einem eigenen Fenster zu öffnen, auch offline.',
    installNow: 'Installieren',
    dismiss: 'Jetzt nicht',
  },
};
