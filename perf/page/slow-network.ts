import { LoopbackServer } from '../../tests/support/loopback-server.ts';
import type { ChunkSink } from '../../tests/support/publish.ts';
import { seededRandom } from '../link/link.ts';

/** The times of lookups: half of them are shorter than the median, and a tenth is longer than `p90Ms`. */
export interface LookupTimes {
  medianMs: number;
  p90Ms: number;
  /** Share of lookups that fail, after their time. The next one of the same record is another draw. */
  failing: number;
  seed: number;
}

export interface Lookup {
  address: string;
  /** In milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
  isFound: boolean;
  /** Whether another lookup of the same record was running, or had found it. */
  isRepeated: boolean;
}

/** The 90th percentile of a normal distribution. */
const z90 = 1.2816;

/** A network behind a peer: answers as AntTP does, with the delays and failures of the live network. */
export class SlowNetwork implements ChunkSink {
  readonly lookups: Lookup[] = [];
  readonly #chunks = new Map<string, Uint8Array>();
  readonly #times: LookupTimes;
  readonly #random: () => number;
  #server!: LoopbackServer;

  private constructor(times: LookupTimes) {
    this.#times = times;
    this.#random = seededRandom(times.seed);
  }

  static async start(times: LookupTimes): Promise<SlowNetwork> {
    const network = new SlowNetwork(times);
    network.#server = await LoopbackServer.start(async ({ url = '' }, response) => {
      const address = url.split('/').pop()!;
      const bytes = network.#chunks.get(address);
      if (!bytes) return void response.writeHead(404).end();
      const isFound = await network.#lookUp(address);
      // As a network that found no holder in time: the record may be there.
      if (isFound) response.end(bytes);
      else response.writeHead(503).end();
    });
    return network;
  }

  /** As `--upstream` of a peer names it. */
  get upstream(): string {
    return `anttp+${this.#server.url}`;
  }

  async put(address: string, bytes: Uint8Array): Promise<void> {
    this.#chunks.set(address, bytes);
  }

  /** Bytes that were put. */
  record(address: string): Uint8Array {
    return this.#chunks.get(address)!;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  async #lookUp(address: string): Promise<boolean> {
    const startedAt = Date.now();
    const isRepeated = this.lookups.some(
      (other) => other.address === address && (other.endedAt > startedAt || other.isFound),
    );
    const milliseconds = this.#draw();
    const isFound = this.#random() >= this.#times.failing;
    this.lookups.push({ address, startedAt, endedAt: startedAt + milliseconds, isFound, isRepeated });
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return isFound;
  }

  /** A log-normal time. */
  #draw(): number {
    const { medianMs, p90Ms } = this.#times;
    const normal = Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
    return medianMs * (p90Ms / medianMs) ** (normal / z90);
  }
}
