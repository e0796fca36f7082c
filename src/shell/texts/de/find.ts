import type { find as english } from '../en/find.ts';

export const find: typeof english = {
  results: 'Vorschläge',
  kinds: {
    address: 'Adresse',
    private: 'Privater Link',
    name: 'Name',
    listedName: 'Name einer Liste',
    action: 'Aktion',
    site: 'Website',
    catalogue: 'Empfohlen',
    file: 'Datei',
  },
  conflict: (names) => `Bedeutet eine andere Adresse als ${names}`,
  privateTitle: 'Den privaten Inhalt dieses Links öffnen',
  actions: {
    publish: 'Ordner veröffentlichen',
    library: 'Bibliothek zeigen',
    pin: 'Websites für unterwegs anheften',
    live: 'Übertragungen live verfolgen',
    settings: 'Einstellungen ändern',
    openFile: 'Datei öffnen…',
  },
  actionWords: {
    publish: 'teilen hochladen dateien',
    library: 'websites seiten gespeichert verlauf',
    pin: 'behalten speichern offline',
    live: 'statistik peers geschwindigkeit',
    settings: 'peers sprache design speicher namen',
    openFile: 'manifest .ant import',
  },
  pinAddress: 'Diese Adresse anheften',
};
