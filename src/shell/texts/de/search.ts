import type { search as english } from '../en/search.ts';

export const search: typeof english = {
  title: 'Im Text angehefteter Websites',
  note: 'Der Index ist nur im Speicher dieser Seite. Kein Peer wird gefragt.',
  reading: 'Die angehefteten Websites werden gelesen …',
  none: 'Keine angeheftete Website enthält diese Wörter.',
  full: 'Nicht alle angehefteten Websites passen in den Index.',
  untitled: 'Dokument ohne Titel',
  count: (count, formatted) => `${formatted} ${count === 1 ? 'Dokument' : 'Dokumente'}`,
  workerFailed: (why) => `Der Teil von Antway, der sucht, konnte nicht starten: ${why}`,
};
