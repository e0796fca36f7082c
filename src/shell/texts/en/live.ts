/** English: the live screen. */
export const live = {
  title: 'Live',
  intro: 'The work of the gateway, as it happens.',
  view: 'Figures of',
  viewAll: 'All of this gateway',
  viewOwn: 'The gateway’s own origin',
  viewAllNote: 'The gateway’s own origin and the sites that have origins of their own, together.',
  viewAllNoteMore: (count: number) =>
    `The gateway’s own origin and the ${count} sites opened last that have origins of their own, together.`,
  viewOwnNote:
    'Sites and files on the gateway’s own origin. Sites with origins of their own do not count here.',
  viewSiteNote: 'As the origin of this site reports it.',
  siteMissing: (title: string) => `${title} is missing here`,
  siteOld: (title: string) => `The figures of ${title} are old`,
  siteOdd: 'The origin of this site reports no figures that the gateway understands.',
  activity: 'Activity',
  requests: 'Requests',
  active: 'Under way',
  failed: 'Failed',
  served: 'Served',
  failedByReason: 'Failed requests by reason',
  since: (time: string) => `Since ${time}, when the browser last started the gateway.`,
  sinceEach: (time: string) =>
    `Since the browser last started the gateway: on each origin at a time of its own, the earliest at ${time}.`,
  throughput: 'Throughput',
  now: 'to pages, now',
  chart: (peak: string) => `Throughput of the last minute; its highest was ${peak} per second.`,
  latency: 'Answer times',
  firstByte: 'First byte',
  whole: 'Whole answer',
  percentile: (percent: number) => `${percent} %`,
  map: 'Chunks of the file being read',
  mapNone: 'Nothing is being read. Open a film or a download in another tab, and its chunks show here.',
  mapOwnOnly: 'Files that sites read on origins of their own are not shown here.',
  mapOf: (size: string, chunks: string) => `${size} in ${chunks}`,
  mapLabel: (have: string, all: string) => `${have} of ${all} chunks are here.`,
  mapLegend: {
    peer: 'from a peer',
    disk: 'from storage',
    memory: 'from memory',
    wait: 'on the way',
    none: 'not asked for',
  },
  sources: 'Where chunks came from',
  fromMemory: (count: string) => `Chunks that were still open in memory: ${count}×`,
  disk: 'This browser’s storage',
  noPeers: 'No peer is configured: only what is stored here can be opened.',
  peers: 'Peers',
  peersOwnState: 'The state is that of the connections of the gateway’s own origin. Each site has its own.',
  peerColumns: {
    peer: 'Peer',
    state: 'State',
    rtt: 'First byte',
    speed: 'Speed',
    chunks: 'Chunks',
    errors: 'Errors',
  },
  peerStates: {
    idle: 'not connected',
    webtransport: 'connected by WebTransport',
    http: 'connected by HTTP',
    unreachable: 'unreachable',
    banned: 'left out: sent wrong bytes',
    gone: 'no longer used',
  },
  storage: 'Stored in this browser',
  storageNone:
    'This browser lets the gateway store nothing, as in a private window. Sites open, but not offline.',
  ofCeiling: (bytes: string, ceiling: string) => `${bytes} of ${ceiling}`,
  chunksStored: (chunks: string) => `${chunks}, as peers hold them`,
  storageUsed: 'Storage used',
  quota: (quota: string) => `The browser gives this site ${quota} in all.`,
  elsewhere: (count: number, formatted: string, bytes: string) =>
    count === 0
      ? 'Nothing of it is on origins of sites.'
      : `${bytes} of it ${count === 1 ? 'is on the origin of one site' : `are on the origins of ${formatted} sites`}, as each last reported.`,
  notPinned: 'Not pinned',
  pinned: (count: number, formatted: string, bytes: string) =>
    count === 0
      ? 'Nothing is pinned.'
      : `${formatted} ${count === 1 ? 'site is' : 'sites are'} pinned, with ${bytes}.`,
  persisted: 'The browser keeps this until you clear it.',
  mayClear: 'The browser may clear this when the disk is full.',
  persistedOwn: 'The browser keeps what is on the gateway’s own origin until you clear it.',
  mayClearOwn: 'The browser may clear what is on the gateway’s own origin when the disk is full.',
  mayClearSites: (count: number, formatted: string) =>
    count === 1
      ? 'The browser may clear 1 pinned site on its own.'
      : `The browser may clear ${formatted} pinned sites on its own.`,
  askPersist: 'Ask it to keep this',
  persistRefused: 'The browser declined. It may agree once Antway is installed or used more.',
  persistRefusedSite: 'The browser declined. It may agree when the site itself asks.',
  persistThere: 'Ask there',
  copyStats: 'Copy as JSON',
  saveStats: 'Save as JSON',
  statsCopied: 'The figures were copied.',
};
