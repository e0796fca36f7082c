import type { BackupFault } from '../../../library/backup/backup-problem.ts';

const faults: Record<BackupFault, string> = {
  foreign: 'This file is not a backup of Antway.',
  newer: 'A newer version of Antway made this backup. Update Antway, then try again.',
  limits: 'This backup demands more work or space than any that Antway makes.',
  passphrase: 'The passphrase is wrong, or the beginning of the file was changed.',
  truncated: 'The end of this backup is missing. Use a complete copy.',
  modified: 'This backup is damaged: its content was changed, or its end is missing. Use a good copy.',
};

/** Loaded with the backup section only. */
export const backup = {
  title: 'Backup',
  intro:
    'One encrypted file with your library, pins, private sites, publications, names, settings, decisions and the keys of lasting addresses. Restore it in another browser, on another device or at another address of a gateway.',
  create: 'Create a backup…',
  restore: 'Restore a backup…',
  createTitle: 'New backup',
  passphrase: 'Passphrase',
  again: 'Repeat the passphrase',
  show: 'Show the passphrase',
  suggest: 'Suggest a passphrase',
  suggested: 'A passphrase was suggested. Write it down.',
  passphraseNote:
    'Only the passphrase decrypts the backup. If you lose it, you cannot read the backup either.',
  strength: {
    short: 'Too short: use at least 8 characters.',
    weak: 'Weak: use several random words, or the suggestion.',
    fair: 'Fair. Longer is better.',
    strong: 'Strong, if it is not a known phrase.',
  },
  differ: 'The two passphrases differ.',
  withContents: 'Include the content of pinned sites',
  withContentsNote: (bytes: string) =>
    `The file grows by about ${bytes}, and the sites then open without a peer. Otherwise, peers supply the content after the restore.`,
  save: 'Save the backup',
  creating: 'The backup is being made',
  numberOf: (number: string, count: string) => `${number} of ${count}`,
  created: (sites: string, bytes: string) => `The backup was saved: ${sites}, ${bytes}.`,
  without: (count: number, formatted: string) =>
    count === 1
      ? 'One pinned site is incomplete here. Its content is not in the backup.'
      : `${formatted} pinned sites are incomplete here. Their content is not in the backup.`,
  bound: (count: number, formatted: string) =>
    `${count === 1 ? 'One lasting address is' : `${formatted} lasting addresses are`} not in the backup. A key that only a passkey unlocks cannot leave this browser. Add a passphrase to it, or keep its 24 words.`,
  done: 'Done',
  restoreTitle: 'Restore a backup',
  file: 'Backup file',
  chooseFile: 'Choose a file…',
  chosen: (name: string) => `Chosen: ${name}`,
  noFile: 'Choose a file.',
  open: 'Open the backup',
  opening: 'The backup is being checked',
  inside: 'In this backup',
  from: (origin: string, date: string) => `Made at ${origin} on ${date}.`,
  partSites: 'Sites',
  partSitesNote: (sites: string, pinned: string, isPrivate: string) =>
    `${sites}: ${pinned} pinned, ${isPrivate} private.`,
  sites: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'site' : 'sites'}`,
  contents: (bytes: string) => `The content of pinned sites is included (${bytes}).`,
  noContents: 'Peers supply the content of pinned sites.',
  first: (titles: string, more: number) => (more > 0 ? `${titles} and ${more} more` : titles),
  refused: (count: number, formatted: string) =>
    count === 1
      ? 'One entry is not valid and is left out.'
      : `${formatted} entries are not valid and are left out.`,
  partPublications: 'Published by you',
  publications: (count: number, formatted: string) =>
    `${formatted} ${count === 1 ? 'publication' : 'publications'}.`,
  partPointers: 'Lasting addresses',
  pointers: (count: number, formatted: string) =>
    `${formatted} lasting ${count === 1 ? 'address' : 'addresses'}, with ${count === 1 ? 'its key' : 'their keys'}.`,
  pointersShared:
    'Keys cannot be restored at this address, because scripts of sites could use them. Open Antway where each site has an origin of its own, and restore there.',
  partSettings: 'Settings',
  settingsNone: 'None.',
  peers: (peers: string) => `Peers, unless you set some here: ${peers}.`,
  peersOfPeers: 'Peers that these peers name are used too, unless you decided that here.',
  names: (names: string) => `Names: ${names}.`,
  denied: (count: number, formatted: string) =>
    `${formatted} blocked ${count === 1 ? 'address' : 'addresses'}.`,
  lists: (lists: string) => `Lists of sites: ${lists}.`,
  nameLists: (lists: string) => `Lists of names: ${lists}.`,
  storage: (bytes: string) => `At most ${bytes} of storage, unless you set it here.`,
  memory: (bytes: string) => `At most ${bytes} of memory, unless you set it here.`,
  transport: (transport: string) => `Transport “${transport}”, unless you set it here.`,
  partTrust: 'Sites that may run scripts',
  trust: (count: number, formatted: string) =>
    `${formatted} ${count === 1 ? 'site' : 'sites'}. Select this only if you made the backup yourself: scripts can read the data of other sites at this address.`,
  restricted: (count: number, formatted: string) =>
    `${formatted} ${count === 1 ? 'site opens' : 'sites open'} without scripts, also after the restore.`,
  merge: 'What is here stays. The restore only adds.',
  apply: 'Restore',
  restoring: 'The backup is being restored',
  restored: 'The backup was restored.',
  added: (parts: string) => `Added: ${parts}.`,
  addedParts: {
    sites: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'site' : 'sites'}`,
    pins: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'pin' : 'pins'}`,
    names: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'name' : 'names'}`,
    denied: (count: number, formatted: string) =>
      `${formatted} blocked ${count === 1 ? 'address' : 'addresses'}`,
    trusted: (count: number, formatted: string) =>
      `${formatted} ${count === 1 ? 'site' : 'sites'} that may run scripts`,
  },
  addedPublications: (publications: string) => `Added to “Published by you”: ${publications}`,
  addedPointers: (pointers: string) =>
    `Added to “Lasting addresses”: ${pointers} Their passphrases are the same as before.`,
  addedPeers: 'The peers of the backup are used now.',
  nothingAdded: 'Everything in it was here already.',
  problems: 'The following was not restored:',
  library: 'Open the library',
  failed: {
    create: 'No backup was made.',
    open: 'The backup was not opened. Nothing was changed.',
    restore: 'The restore ended early. The parts that it added stay, and you can restore again.',
  },
  faults,
};

export type BackupTexts = typeof backup;
