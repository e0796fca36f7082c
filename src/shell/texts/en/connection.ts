/** The state of the connection in the header, and its details. */
export const connection = {
  checking: 'Checking the connection …',
  offline: 'Offline',
  local: 'Local only',
  silent: 'No peer answers',
  untried: 'Peer not asked yet',
  connecting: 'Connecting to the network …',
  network: (name: string | null) => (name === null ? 'Connected to Autonomi' : `Connected to “${name}”`),
  program: (name: string) => `Autonomi through ${name}`,
  direct: (nodes: number) =>
    nodes === 0 ? 'Direct, no node connected yet' : `Direct, ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
  community: (host: string) => `Community peer ${host}`,
};
