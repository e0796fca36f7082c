/** The details of the connection, and the texts for adding a peer. The first screen does not load them. */
export const connectionDetails = {
  title: 'Connection',
  close: 'Close',
  antway: 'Antway peer',
  about: {
    checking: 'The gateway asks its peers whether they answer.',
    offline: 'This device has no network. Stored and pinned sites still open.',
    noPeer: 'This gateway has no peer. It opens only what this browser stores.',
    local: 'The gateway reaches only what this computer stores, and not the Autonomi network.',
    silent: 'Stored and pinned sites still open. For all others, a peer must answer.',
    untried: 'This program shows that it runs only when you open something.',
    direct:
      'This browser connects to nodes of the network itself when you open something. The nodes learn your IP address. You can turn that off in the settings.',
    connecting: 'A peer is connecting to the network. This takes a few seconds.',
    network: 'A peer looks up in the network what it does not store.',
    program: 'This program reads from the Autonomi network. It does not say whether it is connected now.',
    community:
      'This peer serves what it stores. It does not say that it is connected to the Autonomi network.',
  },
  states: {
    banned: 'excluded for a while, because it sent wrong bytes',
    unknown: 'not asked yet',
    silent: 'does not answer',
    program: 'answers',
    store: 'answers with what it stores',
    connected: (name: string, nodes: number | null) =>
      `connected to “${name}”${nodes === null ? '' : ` through ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`}`,
    connecting: (name: string) => `still connecting to “${name}”`,
    disconnected: (name: string) => `not connected to “${name}”`,
  },
  /** Before a command, and after it. */
  run: ['To reach more from this computer, run', ' in a copy of Antway.'],
  addPeer: 'Add a peer',
  checkAgain: 'Check again',
  checkingAgain: 'Checking …',
  add: {
    placeholder: 'peer.example or 127.0.0.1:18888',
    looking: 'Looking for a peer there …',
    suggested: 'A link filled in this field. Add only a peer that you want to use.',
    added: (kind: string, host: string) => `${kind} added: ${host}`,
    anyway: 'Add it anyway',
    insecure: 'Only a peer on this computer may be reached by http://. Use https:// for all others.',
    obstacles: {
      refused: (host: string) =>
        `Nothing answers at ${host}. Check the name and the port, and that the peer runs.`,
      hidden: (host: string) =>
        `A server answers at ${host}, but does not allow this page to read its answers (CORS). If it is AntTP or antd, name it as an upstream of an Antway peer.`,
      foreign: (host: string) => `A server answers at ${host}, but it is no Antway peer, AntTP or antd.`,
      denied: (host: string) =>
        `The browser does not let this page reach ${host}. Allow access to the local network in its settings for this site (the icon left of the address), then try again.`,
      mixed: (host: string) =>
        `This browser does not let a page with https:// reach ${host} without it. Open Antway from this computer (npm start), or use a peer with https://.`,
    },
  },
  access: {
    about: {
      loopback: 'This browser may need your permission before this page reaches programs on this computer.',
      local: 'This browser may need your permission before this page reaches devices in your network.',
    },
    allow: 'Ask for permission',
    denied:
      'The browser refuses. Allow access to the local network in its settings for this site (the icon left of the address), then try again.',
    silent: 'Nothing answers there. Check that the program runs.',
  },
};
