import type { PageTexts } from './texts.ts';

export const en: PageTexts = {
  language: 'en',
  errors: {
    BAD_ADDRESS: 'This is not a valid address',
    BAD_CONFIG: 'This gateway is not configured correctly',
    BAD_RANGE: 'The requested part does not exist',
    METHOD: 'Content can only be read',
    NOT_FOUND: 'Not found',
    DENIED: 'This address is blocked on this gateway',
    CORRUPT: 'The peers sent wrong bytes',
    UNSUPPORTED: 'This kind of content is not supported',
    PEERS_UNREACHABLE: 'No peer answered',
    OFFLINE: 'You are offline',
    TOO_LARGE: 'This is larger than the gateway can handle',
    REFUSED: 'This request was refused',
    BUILD_MISMATCH: 'The gateway’s own files are damaged',
    HOST_UNREACHABLE: 'The gateway’s own files are missing',
    INTERNAL: 'The gateway failed',
  },
  abouts: {},
  deniedByPeers: {
    title: 'The peers have blocked this address',
    about: 'The operators of all peers that this gateway uses have blocked this address.',
  },
  code: 'Code',
  address: 'address',
  opensByItself: 'This page tries again when the network is back.',
  tryAgain: 'Try again',
  backTo: (host) => `Back to ${host}`,
  openAnother: 'Open another address',

  noneStored: 'No part of it is stored on this device.',
  stored(what, stored, total) {
    const of = what === null ? '' : what === 'site' ? ' of the whole site' : ` of “${what.path}”`;
    if (total !== null) return `${stored} of ${total} chunks${of} are stored on this device.`;
    const chunks = stored === 1 ? `1 chunk${of} is` : `${stored} chunks${of} are`;
    return `${chunks} stored on this device. The total is not known yet.`;
  },

  attempts: { caption: 'Attempts', peer: 'Peer', how: 'How', result: 'Result', time: 'Time' },
  stages: { connect: 'connecting', request: 'requesting', receive: 'receiving', verify: 'verifying' },

  progress: {
    title: 'Looking for this content',
    about: 'The peers are looking for it. The page opens by itself when they have found it.',
    waited: ['Waiting for', 'seconds so far.'],
    usual: 'Content that nobody opened recently often takes 5 to 15 seconds.',
    peers: 'Asked:',
    cancel: 'Cancel',
  },
  network: {
    connected: (name, nodes) =>
      `connected to the network “${name}”${nodes === null ? '' : ` through ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`}`,
    notConnected: (name, isConnecting) =>
      `${isConnecting ? 'still connecting' : 'not connected'} to the network “${name}”`,
    none: 'No peer reports a connection to the network. Such a peer usually has only what somebody published to it.',
    nextStep: [
      'To reach the network, start a gateway on your computer with',
      ', or add a connected peer in the',
      '.',
    ],
    settings: 'settings',
    searched: 'A peer searched the network too. Check whether the address is complete.',
    incomplete: 'The search in the network did not end in time. Another try may find the content.',
    notSearched: 'The network was not searched, because no peer is connected to it now. Try again later.',
  },

  report: 'Report this site to the operator of the gateway',

  contentsOf: (name) => `Contents of ${name}`,
  folders: (count, written) => `${written} ${count === 1 ? 'folder' : 'folders'}`,
  files: (count, written) => `${written} ${count === 1 ? 'file' : 'files'}`,
  asJson: 'As JSON',
  asTar: 'as a tar',
  name: 'Name',
  size: 'Size',
  up: '(up)',
  notServed: 'Not served',
  refused: (count, written) =>
    `${written} ${count === 1 ? 'entry' : 'entries'} of this archive cannot be served:`,
  andMore: (count) => `and ${count} more`,

  firstVisit: {
    title: 'First visit',
    heading: 'First visit to this site',
    about:
      'Anyone can publish on this network, and this gateway shows all sites on one origin. So you decide whether this site may run scripts, the programs inside its pages.',
    restrict: 'Open without scripts',
    restrictMeans:
      'The gateway shows the pages of the site, and no program in them runs. This is safe for every site, and many sites work just as well.',
    trust: 'Trust this site',
    trustMeans:
      'The scripts of the site run. They share this gateway’s origin, so they can also read and change the data of other sites and of the gateway in this browser, and even remove the gateway’s worker. You confirm this in a second step.',
    remembered: 'This device remembers your choice.',
    change: 'You can change it in the settings of the gateway',
    pointer: 'This address is a pointer: its owner can change what it shows at any time.',
    outdated: 'Your answer came too late, so the gateway asks again.',
  },
  confirmTrust: {
    heading: 'Run the scripts of this site?',
    about:
      'Trust only sites whose programs you would install. A trusted site can read other sites’ data, change the gateway’s settings and remove its worker.',
    trust: 'Yes, run its scripts',
    pointer: 'The owner of this pointer can publish other versions, with other scripts.',
    version: 'Yes, for this version only',
    owner: 'Yes, for every version by this owner',
  },
};
