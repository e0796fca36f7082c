import type { LinkOptions, LinkTally } from './link.ts';

/** How the gateway gets its chunks: GET and OPEN over WebTransport, GET alone, or HTTP. */
export const transports = ['webtransport', 'webtransport-get', 'http'] as const;
export type TransportName = (typeof transports)[number];

/** The first message to the process. */
export interface RelayRequest {
  link: LinkOptions;
  httpPort: number;
  webTransportPort: number;
  /** The relay alone goes before all other programs, as a link does not wait for a processor. Linux, root. */
  isRealTime: boolean;
}

/** Its answer: ports of HTTP transports which offer what their names say. */
export type RelayPorts = Record<TransportName, number>;

/** The answer to any later message. */
export interface RelayTally {
  up: LinkTally;
  down: LinkTally;
  /** How late the relay was at most in 99 % of the time, for want of a processor. */
  lateMs: number;
}
