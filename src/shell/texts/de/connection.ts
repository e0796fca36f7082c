import type { Texts } from '../en/index.ts';

export const connection: Texts['connection'] = {
  checking: 'Die Verbindung wird geprüft …',
  offline: 'Offline',
  local: 'Nur lokal',
  silent: 'Kein Peer antwortet',
  untried: 'Peer noch nicht gefragt',
  connecting: 'Verbindung zum Netzwerk wird aufgebaut …',
  network: (name) => (name === null ? 'Mit Autonomi verbunden' : `Mit „${name}“ verbunden`),
  program: (name) => `Autonomi über ${name}`,
  direct: (nodes) => (nodes === 0 ? 'Direkt, noch kein Knoten verbunden' : `Direkt, ${nodes} Knoten`),
  community: (host) => `Community-Peer ${host}`,
};
