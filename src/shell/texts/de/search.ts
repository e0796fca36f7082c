import type { search as english } from '../en/search.ts';

export const search: typeof english = {
  title: 'Im Text angehefteter Seiten',
  note: 'Der Index ist nur im Speicher dieser Seite. Kein Peer wird gefragt.',
  reading: 'Die angehefteten Seiten werden gelesen …',
  none: 'Keine angeheftete Seite enthält diese Wörter.',
  full: 'Nicht alle angehefteten Seiten passen in den Index.',
  untitled: 'Seite ohne Titel',
  count: (count, formatted) => `${formatted} ${count === 1 ? 'Seite' : 'Seiten'}`,
  workerFailed: (why) => `Der Teil von Antway, der sucht, konnte nicht starten: ${why}`,
};
