import type { PageTexts } from './texts.ts';

/** The English texts of the gateway's own pages. */
export const en: PageTexts = {
  language: 'en',
  errors: {
    BAD_ADDRESS: 'This is not a valid address',
    BAD_CONFIG: 'This gateway is not configured correctly',
    BAD_RANGE: 'The part asked for does not exist',
    METHOD: 'Content can only be read',
    NOT_FOUND: 'Not found',
    DENIED: 'This address is blocked on this gateway',
    CORRUPT: 'Wrong bytes were refused',
    UNSUPPORTED: 'This kind of content is not supported',
    PEERS_UNREACHABLE: 'No peer answered',
    OFFLINE: 'You are offline',
    TOO_LARGE: 'This is larger than the gateway can handle',
    REFUSED: 'This was refused',
    BUILD_MISMATCH: 'The gateway’s own files are damaged',
    HOST_UNREACHABLE: 'The gateway’s own files are missing',
    INTERNAL: 'The gateway failed',
  },
  abouts: {},
  code: 'Code',
  address: 'address',
  opensByItself: 'This page tries again by itself as soon as there is a network.',
  tryAgain: 'Try again',
  backTo: (host) => `Back to ${host}`,
  openAnother: 'Open another address',

  nothingKept: 'Nothing of it is kept on this device.',
  kept(what, stored, total) {
    const of = what === null ? 'it' : what === 'site' ? 'the whole site' : `“${what.path}”`;
    if (total !== null) return `Of ${of}, ${stored} of ${total} chunks are kept on this device.`;
    const chunks = stored === 1 ? '1 chunk is' : `${stored} chunks are`;
    return `Of ${of}, ${chunks} kept on this device; how many there are is told by one that is not.`;
  },

  attempts: { caption: 'Attempts', peer: 'Peer', how: 'How', result: 'Result', time: 'Time' },
  stages: { connect: 'connecting', request: 'asking', receive: 'receiving', verify: 'checking' },

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
      'Everybody can publish on this network, and this gateway shows all sites under one origin. So you decide whether this one may run scripts, the programs inside its pages.',
    restrict: 'Open without scripts',
    restrictMeans:
      'Its pages are shown, and nothing in them runs. That is safe for every site, and many work just as well.',
    trust: 'Trust this site',
    trustMeans:
      'Its scripts run. They share this gateway’s origin, so they can also read and change what other sites and the gateway store in this browser, and even remove the gateway’s worker. You confirm this in a second step.',
    remembered: 'Your choice is remembered on this device.',
    change: 'It can be changed on the gateway’s page',
    pointer: 'This address is a pointer: its owner can change what it shows at any time.',
    outdated: 'Your answer came too late, so the gateway asks again.',
  },
  confirmTrust: {
    heading: 'Run the scripts of this site?',
    about:
      'Trust only what you would install. A trusted site can read other sites’ data, change the gateway’s settings and remove its worker.',
    trust: 'Yes, run its scripts',
    pointer: 'The owner of this pointer can publish other versions, with other scripts.',
    version: 'Yes, for this version only',
    owner: 'Yes, for every version by this owner',
  },
};
