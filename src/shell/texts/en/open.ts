export const open = {
  title: 'Explore the Autonomi network',
  intro:
    'Antway opens sites and files of the Autonomi network in this browser, verifies every byte, and keeps them for offline use.',
  label: 'Search or open an address',
  placeholder: 'Search, or paste a link',
  button: 'Open',
  hint: 'Finds sites, files and actions, and opens addresses and links of any gateway.',
  hintKey: 'Press / to come here.',
  reading: 'Reading the manifest …',
  fileNote: 'A manifest (.ant) or data map (.datamap) stays on this device.',
  openFile: 'Open a file…',
  drop: 'Drop a manifest (.ant) or a link to open it',
  names: 'Names',
  recent: 'Last opened',
  nothingOpened:
    'Nothing yet. Sites that you open appear here. The next time they open from this browser’s storage.',
  remove: (title: string) => `Remove ${title} from this list`,
  removed: (title: string) => `${title} was removed.`,
  manifestTooLarge: (size: string, most: string) => `This file has ${size}. A manifest has at most ${most}.`,
  unreadable: (why: string) => `The file cannot be read: ${why}`,
  privateLink: 'This link contains the key to private content. The key stays on this device.',
  manifestQuestion: {
    title: 'Open a private site from this link?',
    contents: (name: string | null, files: number) =>
      `It ${name ? `is called “${name}”` : 'has no name'} and has ${files} ${files === 1 ? 'file' : 'files'}. If you open it, its manifest is stored on this device.`,
    open: 'Open it',
    refuse: 'Not now',
  },
  problems: {
    empty: 'Type or paste an address.',
    scheme: (scheme: string) =>
      `“${scheme}” links cannot be opened here: only ant://, autonomi://, https:// and http:// links.`,
    brokenLink: 'This link is incomplete or damaged. Copy the whole link once more.',
    noAddress: 'There is no address in this link. An address has 64 hex digits.',
    outside: 'The path after the address leads outside the site.',
    digits: (count: number) => `An address has 64 hex digits. This one has ${count}.`,
    character: (wrong: string) =>
      `An address has only the digits 0–9 and the letters a–f. This one has “${wrong}”.`,
    long: 'This is not an address: it must be 64 hex digits.',
    conflict: (name: string, choices: string) =>
      `“${name}” has several meanings. Choose one of them: ${choices}.`,
    unknownName: (name: string) =>
      `There is no name “${name}” in this browser. Names that begin with ~ are the user’s own, and names with @ belong to a list.`,
    neither: (text: string) => `“${text}” is neither an address (64 hex digits) nor a name of this gateway.`,
  },
  help: {
    title: 'What is this?',
    paragraphs: [
      'With Antway, this browser opens sites and files of the Autonomi network by their content address. A service worker fetches encrypted chunks from peers, verifies each chunk against its address, and decrypts it in this browser. Peers cannot change the content. Opened content is stored encrypted in this browser, and opens offline.',
      'An address has 64 hex digits. Add a path to open one file of a site: address/page.html.',
      'A manifest (.ant) is a list of files, and can contain the only keys to private files. Open it as a file, or as an ant://manifest/ link. Antway stores it encrypted on this device and never sends it.',
    ],
    links: 'Documentation',
    autonomi: 'Autonomi',
    network: 'Documentation of the network',
    anttp: 'AntTP, the native gateway',
  },
};
