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
  abouts: {
    BAD_ADDRESS: 'An address has 64 hex digits. Check whether the link is complete.',
    BAD_CONFIG: 'The operator of this gateway must correct its configuration.',
    BAD_RANGE: 'The request names bytes behind the end of the file.',
    METHOD: 'Pages can read content with GET and HEAD. They cannot change it.',
    NOT_FOUND: 'Nothing was found at this address.',
    DENIED: 'You or the operator of this gateway have blocked it.',
    CORRUPT: 'The data of the peers does not match the address. The gateway does not show it.',
    UNSUPPORTED: 'The format is unknown, or newer than this gateway.',
    PEERS_UNREACHABLE: 'No peer answered in time, and this content is not stored on this device.',
    OFFLINE: 'This content is not completely stored on this device.',
    TOO_LARGE: 'The content exceeds a limit of the gateway.',
    REFUSED: 'The gateway does not allow this request, to protect this browser and its data.',
    BUILD_MISMATCH: 'A file does not belong to this version. The gateway does not show it.',
    HOST_UNREACHABLE: 'A file is missing on this device, and the host did not deliver it.',
    INTERNAL: 'Try it again.',
  },
  missing: (path) => `This site has no file “${path}”.`,
  saving: { title: 'Your browser saves this file', save: 'Save the file' },
  opening: { title: 'Opening the site', open: 'Open the site' },
  siteStart: 'Start page of this site',
  filesOf: (folder) => (folder === '' ? 'Files of this site' : `Files in ${folder}`),
  details: 'Details',
  deniedByPeers: {
    title: 'Peers have blocked this address',
    about: 'No peer of this gateway delivers it: their operators have blocked it, or they do not have it.',
  },
  absentSomewhere: {
    title: 'Not found so far',
    about: 'No peer that answered has it. Other peers or the network’s nodes did not answer in time.',
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
    usual: 'Content that was not opened recently often takes 5 to 15 seconds.',
    peers: 'Asked:',
    cancel: 'Cancel',
  },
  network: {
    connected: (name, nodes) =>
      `connected to the network “${name}”${nodes === null ? '' : ` through ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`}`,
    notConnected: (name, isConnecting) =>
      `${isConnecting ? 'still connecting' : 'not connected'} to the network “${name}”`,
    none: 'No peer reports a connection to the network. Such a peer usually has only content that was published to it.',
    store: 'serves what it stores',
    silent: 'did not say what it is connected to',
    noAnswer: 'did not answer',
    blocks: 'has blocked this address',
    program: 'reads from the Autonomi network',
    addPeer: 'Add a peer',
    connectAntTp: ['Connect AntTP', ', if it runs on this computer'],
    run: 'Or reach the network from this computer:',
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
  inApp: 'in the app',
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
      'The scripts of the site run. They can also read and change the data of other sites and of the gateway in this browser. You confirm this in a second step.',
    remembered: 'This device remembers your choice.',
    change: 'You can change it in the settings of the gateway',
    pointer: 'This is a lasting address: its owner can change what it shows at any time.',
    outdated: 'Your answer came too late, so the gateway asks again.',
  },
  confirmTrust: {
    heading: 'Run the scripts of this site?',
    about:
      'Trust only sites whose programs you would install. A trusted site can read other sites’ data, change the gateway’s settings and remove its worker.',
    trust: 'Yes, run its scripts',
    pointer: 'The owner of this lasting address can publish other versions, with other scripts.',
    version: 'Yes, for this version only',
    owner: 'Yes, for every version by this owner',
  },
};
