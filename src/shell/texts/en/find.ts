export const find = {
  results: 'Suggestions',
  kinds: {
    address: 'Address',
    private: 'Private link',
    name: 'Name',
    listedName: 'Name of a list',
    action: 'Action',
    site: 'Site',
    catalogue: 'Recommended',
    file: 'File',
  },
  conflict: (names: string) => `Means another address than ${names}`,
  privateTitle: 'Open the private content of this link',
  actions: {
    publish: 'Publish a folder',
    library: 'Show the library',
    pin: 'Pin sites for offline use',
    live: 'Watch live transfers',
    settings: 'Change settings',
    openFile: 'Open a file…',
  },
  /** Further words that find the action. */
  actionWords: {
    publish: 'share upload files',
    library: 'sites stored history',
    pin: 'keep save download',
    live: 'statistics peers speed',
    settings: 'peers language theme storage names',
    openFile: 'manifest .ant import',
  },
  pinAddress: 'Pin this address for offline use',
};
