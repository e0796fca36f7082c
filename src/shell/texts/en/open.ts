/** English: the start page. */
export const open = {
  title: 'Open an address',
  button: 'Open',
  placeholder: 'Address, link or bookmark',
  hint: 'An address of 64 hex digits, an ant:// link, or a link of any gateway.',
  reading: 'Reading the manifest …',
  fileNote: 'A manifest (.ant) stays on this device.',
  openFile: 'Open a file…',
  drop: 'Drop a manifest (.ant) or a link to open it',
  bookmarks: 'Bookmarks',
  recent: 'Last opened',
  nothingOpened:
    'Nothing yet. Sites that you open appear here, and open from this browser’s own storage the next time.',
  remove: (title: string) => `Remove ${title} from this list`,
  removed: (title: string) => `${title} was removed.`,
  manifestTooLarge: (size: string, most: string) => `This has ${size}, and a manifest at most ${most}.`,
  unreadable: (why: string) => `This cannot be read as a file: ${why}`,
  privateLink: 'This link holds the key to something private. It is kept on this device.',
  manifestQuestion: {
    title: 'Open a private site from this link?',
    contents: (name: string | null, files: number) =>
      `It ${name ? `is called “${name}”` : 'has no name'} and has ${files} ${files === 1 ? 'file' : 'files'}. Its manifest is then stored on this device.`,
    open: 'Open it',
    refuse: 'Not now',
  },
  problems: {
    empty: 'Type or paste an address.',
    scheme: (scheme: string) =>
      `“${scheme}” links cannot be opened here: only ant://, autonomi://, https:// and http:// links.`,
    noAddress: 'There is no address in this link. An address has 64 hex digits.',
    outside: 'The path after the address leads out of it.',
    digits: (count: number) => `An address has 64 hex digits. This one has ${count}.`,
    character: (wrong: string) =>
      `An address has only the digits 0–9 and the letters a–f. This one has “${wrong}”.`,
    long: 'This is not an address: it must be 64 hex digits.',
    neither: (text: string) =>
      `“${text}” is neither an address (64 hex digits) nor a bookmark of this gateway.`,
  },
  help: {
    title: 'What is this?',
    paragraphs: [
      'Antway lets this browser open sites and files of the Autonomi network by their content address. A service worker fetches their encrypted chunks from peers, checks each against its address, and decrypts it here. Peers cannot change what you see. What was seen is kept as peers hold it, and opens offline.',
      'An address has 64 hex digits. Put a path behind it to open one file of a site: address/page.html.',
      'A manifest (.ant) is a list of files, and can hold the only keys to private ones. Open it as a file, or as an ant://manifest/ link. Antway keeps it, encrypted, on this device and sends it nowhere.',
    ],
    links: 'Documentation',
    autonomi: 'Autonomi',
    network: 'Documentation of the network',
    anttp: 'AntTP, the native gateway',
  },
};
