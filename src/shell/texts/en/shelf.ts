export const shelf = {
  sample: 'Start here',
  openSample: 'Open the sample site',
  ofHost: 'Recommended by this gateway',
  list: 'List of your settings',
  listOfHost: 'List of this gateway',
  emptyList: 'This list is empty.',
  notListed: 'This list cannot be shown:',
  untitled: {
    archive: 'Site without a title',
    file: 'File without a title',
    record: 'Record without a title',
    manifest: 'Private files without a name',
  },
  namesOf: (label: string) => `Names of the list ${label}`,
  conflict: (names: string) => `Means another address than ${names}`,
};
