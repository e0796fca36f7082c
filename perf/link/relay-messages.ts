import type { LinkOptions, LinkTally } from './link.ts';

/** How the gateway gets its chunks: GET and OPEN over WebTransport, GET alone, or HTTP. */
export const transports = ['webtransport', 'webtransport-get', 'http'] as const;
export type TransportName = (typeof transports)[number];

/** The first message to the process. All ports of the relay share the link. */
export interface RelayRequest {
  link: LinkOptions;
  peers: { httpPort: number; webTransportPort: number }[];
  /** Ports of HTTP servers without a description of a peer. */
  hosts?: number[];
  /** The relay alone goes before all other programs, as a link does not wait for a processor. Linux, root. */
  isRealTime: boolean;
}

/** Its answer, in the order of the request. */
export interface RelayPorts {
  /** Ports of HTTP transports which offer what their names say. */
  peers: Record<TransportName, number>[];
  hosts: number[];
}

/** The answer to any later message. */
export interface RelayTally {
  up: LinkTally;
  down: LinkTally;
  /** How late the relay was at most in 99 % of the time, for want of a processor. */
  lateMs: number;
}
