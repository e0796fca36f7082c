import { Deliveries } from './deliveries.ts';
import { Link, type LinkOptions, type LinkTally } from './link.ts';
import { relayTcp } from './tcp.ts';
import { relayUdp } from './udp.ts';

/** One direction: when things arrive, and the queue that brings them then. */
export interface Direction {
  link: Link;
  deliveries: Deliveries;
}

/** Both directions of a link. All that is relayed over it shares its rate. */
export interface Way {
  options: LinkOptions;
  /** From the clients to the target. */
  up: Direction;
  down: Direction;
}

/** A port of loopback behind which a target is as far away as the link says. */
export interface Port {
  port: number;
  close(): Promise<void>;
}

/**
 * A link on loopback, emulated in user space: delay, rate and a bounded queue for TCP and UDP, and loss for UDP.
 *
 * TCP has no loss here. A relay above the socket cannot lose a segment, only the kernel could; and both of its
 * halves are connections over loopback, so there is no slow start either. The result for TCP is the best that
 * any TCP could do on such a link. A new connection's first bytes do wait for the round trip of its handshake.
 */
export class LinkRelay {
  readonly #way: Way;
  readonly #ports: Port[] = [];

  /** @param options apply to each direction by itself. */
  constructor(options: LinkOptions) {
    const direction = (seed: number): Direction => ({
      link: new Link({ ...options, seed }),
      deliveries: new Deliveries(),
    });
    this.#way = { options, up: direction(options.seed), down: direction(options.seed + 1) };
  }

  /** @returns the port of 127.0.0.1 from which `targetPort` of 127.0.0.1 is reached. */
  async tcp(targetPort: number): Promise<number> {
    return this.#opened(await relayTcp(this.#way, targetPort));
  }

  /** @returns as `tcp`. */
  async udp(targetPort: number): Promise<number> {
    return this.#opened(await relayUdp(this.#way, targetPort));
  }

  /** The outcome of the datagrams. */
  get tally(): { up: LinkTally; down: LinkTally } {
    return { up: this.#way.up.link.tally, down: this.#way.down.link.tally };
  }

  async close(): Promise<void> {
    this.#way.up.deliveries.close();
    this.#way.down.deliveries.close();
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  #opened(port: Port): number {
    this.#ports.push(port);
    return port.port;
  }
}
