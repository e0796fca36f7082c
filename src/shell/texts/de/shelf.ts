import type { shelf as english } from '../en/shelf.ts';

export const shelf: typeof english = {
  sample: 'Hier beginnen',
  openSample: 'Beispielwebsite öffnen',
  ofHost: 'Empfohlen von diesem Gateway',
  list: 'Liste aus Ihren Einstellungen',
  listOfHost: 'Liste dieses Gateways',
  emptyList: 'Diese Liste ist leer.',
  notListed: 'Diese Liste lässt sich nicht anzeigen:',
  untitled: {
    archive: 'Website ohne Titel',
    file: 'Datei ohne Titel',
    record: 'Datensatz ohne Titel',
    manifest: 'Private Dateien ohne Namen',
  },
  namesOf: (label) => `Namen der Liste ${label}`,
  conflict: (names) => `Bedeutet eine andere Adresse als ${names}`,
};
