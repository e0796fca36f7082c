import type { Texts } from '../en/index.ts';

/** German: the start of the gateway and its errors. */
export const boot: Texts['boot'] = {
  cannotStart: 'Das Gateway kann nicht starten',
  nothingHere: 'Hier ist nichts',
  opening: 'Wird geöffnet …',
  openingLong:
    'Das dauert länger als sonst. Ist der Link ein Download, dann speichert der Browser ihn bereits.',
  insecure: (origin) => ({
    message: `Diese Seite kam über eine ungeschützte Verbindung (${origin}). Browser führen ein Gateway nur über https aus, oder auf demselben Computer.`,
    advice:
      'Öffnen Sie sie über ihre https-Adresse. Auf dem Computer, der sie bereitstellt: http://localhost oder http://127.0.0.1.',
  }),
  noWorkers: {
    message: 'Dieser Browser bietet hier keine Service Worker, und das Gateway ist einer.',
    advice:
      'In Browsern innerhalb von Apps fehlen sie, und in privaten Fenstern älterer Versionen von Firefox: Öffnen Sie diese Seite in einem gewöhnlichen Fenster eines aktuellen Browsers.',
  },
  notInstalled: {
    message: 'Das Gateway wurde geladen, konnte aber nicht installiert werden.',
    advice:
      'Versuchen Sie es noch einmal: Vielleicht fehlte eine Datei. Bleibt es dabei, hat dieser Browser vielleicht keinen Speicherplatz mehr, oder er sperrt ihn für diese Seite.',
  },
  refused: (why) => ({
    message: `Der Browser erlaubt dieser Seite nicht, ihr Gateway zu installieren: ${why}`,
    advice:
      'Erlauben Sie Websitedaten (Cookies) für diese Seite, verlassen Sie das private Fenster, oder fragen Sie, wer diesen Browser verwaltet.',
  }),
  hostSilent: (host) => `Der Host dieses Gateways (${host}) antwortet nicht.`,
  offline: 'Dieser Browser ist offline, und das Gateway ist in ihm noch nicht installiert.',
  unreachableAdvice:
    'Prüfen Sie die Verbindung und versuchen Sie es noch einmal. Einmal installiert, funktioniert das Gateway auch offline.',
  notFound: (status, script) => ({
    message: `Der Host hat kein Gateway zum Installieren: Er antwortete ${status} für ${script}.`,
    advice:
      'Versuchen Sie es später noch einmal. Ist es Ihr Host, dann prüfen Sie, ob er alle Dateien des Builds ausliefert.',
  }),
  broken: {
    message: 'Das Gateway wurde geladen, aber dieser Browser konnte es nicht ausführen.',
    advice:
      'Aktualisieren Sie den Browser und versuchen Sie es noch einmal. Bleibt es dabei, muss der Host dieses Gateways nachsehen.',
  },
  other: (why) => ({
    message: `Das Gateway konnte nicht starten: ${why}`,
    advice: 'Versuchen Sie es noch einmal. Bleibt es dabei, muss der Host dieses Gateways nachsehen.',
  }),
  storageBlocked: {
    message: 'Dieser Browser sperrt den Speicher für diese Seite, und ohne ihn geht das Gateway nicht.',
    advice: 'Erlauben Sie Websitedaten (Cookies) für diese Seite und versuchen Sie es noch einmal.',
  },
  nothingAt: (path) => ({
    message: `Das Gateway hat nichts unter ${path}: Es ist weder eine Adresse noch ein Lesezeichen dieses Gateways.`,
    advice: 'Prüfen Sie, ob der Link vollständig ist. Eine Adresse hat 64 Hexadezimalziffern.',
  }),
  notAnswered: {
    message: 'Das Gateway ist installiert, aber der Browser ließ es diese Seite nicht beantworten.',
    advice:
      'Vielleicht hält eine Erweiterung oder ein Entwicklerwerkzeug („Bypass for network“) es zurück. Schalten Sie es ab und versuchen Sie es noch einmal.',
  },
};
