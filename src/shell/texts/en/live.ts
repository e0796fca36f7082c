export const live = {
  title: 'Live',
  intro: 'The current activity of the gateway.',
  view: 'Figures of',
  viewAll: 'All of this gateway',
  viewOwn: 'The gateway’s own origin',
  viewAllNote: 'The sum of the gateway’s own origin and the sites with origins of their own.',
  viewAllNoteMore: (count: number) =>
    `The sum of the gateway’s own origin and the last ${count} opened sites with origins of their own.`,
  viewOwnNote:
    'Sites and files on the gateway’s own origin. Sites with origins of their own do not count here.',
  viewSiteNote: 'The origin of this site reports these figures.',
  siteMissing: (title: string) => `${title} is missing here`,
  siteOld: (title: string) => `The figures of ${title} are old`,
  siteOdd: 'The origin of this site reports figures that the gateway does not understand.',
  activity: 'Activity',
  requests: 'Requests',
  active: 'Active',
  failed: 'Failed',
  served: 'Served',
  failedByReason: 'Failed requests by reason',
  since: (time: string) => `Since ${time}, when the browser last started the gateway.`,
  sinceEach: (time: string) =>
    `Since the browser last started the gateway. Each origin started at a different time, the earliest at ${time}.`,
  throughput: 'Throughput',
  now: 'to pages, now',
  chart: (peak: string) => `Throughput of the last minute. The peak was ${peak} per second.`,
  latency: 'Response times',
  firstByte: 'First byte',
  whole: 'Complete response',
  percentile: (percent: number) => `${percent} %`,
  map: 'Chunks of the file being read',
  mapNone: 'No file is being read. Open a video or a download in another tab to see its chunks here.',
  mapOwnOnly: 'This map does not show files that sites read on origins of their own.',
  mapOf: (size: string, chunks: string) => `${size} in ${chunks}`,
  mapLabel: (have: string, all: string) => `${have} of ${all} chunks are here.`,
  mapLegend: {
    peer: 'from a peer',
    disk: 'from storage',
    memory: 'from memory',
    wait: 'requested',
    none: 'not requested',
  },
  sources: 'Sources of chunks',
  fromMemory: (count: string) => `Chunks that were still decrypted in memory: ${count}×`,
  disk: 'This browser’s storage',
  noPeers: 'No peer is configured: only what is stored here can be opened.',
  peers: 'Peers',
  peersOwnState:
    'The state is of the connections of the gateway’s own origin. Each site has its own connections.',
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
    banned: 'excluded: sent wrong bytes',
    gone: 'no longer used',
  },
  storage: 'Stored in this browser',
  storageNone:
    'This browser does not let the gateway store data, for example in a private window. Sites open, but not offline.',
  ofCeiling: (bytes: string, ceiling: string) => `${bytes} of ${ceiling}`,
  chunksStored: (chunks: string) => `${chunks}, encrypted`,
  storageUsed: 'Storage used',
  quota: (quota: string) => `The browser gives this site ${quota} in total.`,
  elsewhere: (count: number, formatted: string, bytes: string) =>
    count === 0
      ? 'No part of it is on origins of sites.'
      : `${bytes} of it ${count === 1 ? 'is on the origin of one site' : `are on the origins of ${formatted} sites`}, according to their last reports.`,
  notPinned: 'Not pinned',
  pinned: (count: number, formatted: string, bytes: string) =>
    count === 0
      ? 'Nothing is pinned.'
      : `${formatted} ${count === 1 ? 'site is' : 'sites are'} pinned, with ${bytes}.`,
  persisted: 'The browser keeps this data until you delete it.',
  mayClear: 'The browser may delete this data when the disk is full.',
  persistedOwn: 'The browser keeps the data of the gateway’s own origin until you delete it.',
  mayClearOwn: 'The browser may delete the data of the gateway’s own origin when the disk is full.',
  mayClearSites: (count: number, formatted: string) =>
    count === 1
      ? 'The browser may delete 1 pinned site when the disk is full.'
      : `The browser may delete ${formatted} pinned sites when the disk is full.`,
  askPersist: 'Ask for persistent storage',
  persistRefused: 'The browser declined. It may agree once Antway is installed or used more.',
  persistRefusedSite: 'The browser declined. It may agree when the site itself asks.',
  persistThere: 'Ask on the page of the site',
  copyStats: 'Copy as JSON',
  saveStats: 'Save as JSON',
  statsCopied: 'The figures were copied.',
};
