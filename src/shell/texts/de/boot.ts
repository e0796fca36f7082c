import type { Texts } from '../en/index.ts';

export const boot: Texts['boot'] = {
  cannotStart: 'Das Gateway kann nicht starten',
  nothingHere: 'Hier ist nichts',
  opening: 'Wird geöffnet …',
  openingLong:
    'Das dauert länger als sonst. Falls der Link ein Download ist, speichert der Browser ihn bereits.',
  insecure: (origin) => ({
    message: `Diese Seite wurde über eine ungeschützte Verbindung geladen (${origin}). Browser führen ein Gateway nur über HTTPS aus, oder auf dem Computer, der es bereitstellt.`,
    advice:
      'Öffnen Sie die Seite unter ihrer https://-Adresse. Verwenden Sie auf dem Computer, der sie bereitstellt, http://localhost oder http://127.0.0.1.',
  }),
  noWorkers: {
    message: 'Das Gateway ist ein Service Worker, und dieser Browser unterstützt hier keine Service Worker.',
    advice:
      'In Browsern innerhalb von Apps und in privaten Fenstern älterer Firefox-Versionen fehlen sie. Öffnen Sie diese Seite in einem gewöhnlichen Fenster eines aktuellen Browsers.',
  },
  notInstalled: {
    message: 'Der Browser hat das Gateway geladen, konnte es aber nicht installieren.',
    advice:
      'Versuchen Sie es erneut: Vielleicht wurde eine Datei nicht geladen. Besteht der Fehler weiterhin, hat der Browser vielleicht keinen Speicherplatz mehr oder sperrt ihn für diese Website.',
  },
  refused: (why) => ({
    message: `Der Browser erlaubt dieser Website nicht, ihr Gateway zu installieren: ${why}`,
    advice:
      'Erlauben Sie Websitedaten (Cookies) für diese Website, verwenden Sie ein Fenster, das nicht privat ist, oder fragen Sie den Administrator dieses Browsers.',
  }),
  hostSilent: (host) => `Der Host dieses Gateways (${host}) antwortet nicht.`,
  offline: 'Dieser Browser ist offline, und das Gateway ist noch nicht installiert.',
  unreachableAdvice:
    'Prüfen Sie die Verbindung und versuchen Sie es erneut. Nach der Installation funktioniert das Gateway auch offline.',
  partUnavailable:
    'Dieser Teil von Antway ist noch nicht auf diesem Gerät gespeichert. Verbinden Sie sich mit dem Internet und laden Sie diese Seite neu.',
  notFound: (status, script) => ({
    message: `Der Host stellt hier kein Gateway bereit: Auf die Anfrage nach ${script} antwortete er mit ${status}.`,
    advice:
      'Versuchen Sie es später erneut. Wenn es Ihr Host ist, prüfen Sie, ob er alle Dateien des Builds ausliefert.',
  }),
  broken: {
    message: 'Der Browser hat das Gateway geladen, konnte es aber nicht ausführen.',
    advice:
      'Aktualisieren Sie den Browser und versuchen Sie es erneut. Besteht der Fehler weiterhin, wenden Sie sich an den Betreiber dieses Gateways.',
  },
  other: (why) => ({
    message: `Das Gateway konnte nicht starten: ${why}`,
    advice:
      'Versuchen Sie es erneut. Besteht der Fehler weiterhin, wenden Sie sich an den Betreiber dieses Gateways.',
  }),
  storageBlocked: {
    message:
      'Dieser Browser sperrt den Speicher für diese Website. Ohne Speicher funktioniert das Gateway nicht.',
    advice: 'Erlauben Sie Websitedaten (Cookies) für diese Website und versuchen Sie es erneut.',
  },
  nothingAt: (path) => ({
    message: `Das Gateway hat nichts unter ${path}: Das ist weder eine Adresse noch ein Name dieses Gateways.`,
    advice: 'Prüfen Sie, ob der Link vollständig ist. Eine Adresse hat 64 Hexadezimalziffern.',
  }),
  notAnswered: {
    message: 'Das Gateway ist installiert, aber der Browser hat diese Seite ohne es geladen.',
    advice:
      'Vielleicht verhindert eine Erweiterung oder ein Entwicklerwerkzeug („Bypass for network“), dass das Gateway antwortet. Schalten Sie es ab und versuchen Sie es erneut.',
  },
};
