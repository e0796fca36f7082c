export const search = {
  title: 'In the text of pinned sites',
  note: 'The index is in the memory of this page only. No peer is asked.',
  reading: 'Reading the pinned sites …',
  none: 'No pinned site contains these words.',
  full: 'Not all pinned sites fit into the index.',
  untitled: 'Untitled page',
  count: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'page' : 'pages'}`,
  workerFailed: (why: string) => `The part of Antway that searches could not start: ${why}`,
};
