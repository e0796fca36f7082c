import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { sanitizeText } from '../util/sanitize-text.ts';
import type { Clock } from './clock.ts';
import type { NodesStatus } from './nodes.ts';
import { portLimits } from './port-limits.ts';
import {
  type LeaderMessage,
  type Port,
  parseLeaderMessage,
  type RecordKind,
  type WorkerMessage,
} from './port-messages.ts';
import { SilenceWatch } from './silence-watch.ts';

export interface PortRequestOptions {
  signal: AbortSignal;
  onFirstByte?: (() => void) | undefined;
}

interface Pending {
  address: Address;
  kind: RecordKind;
  limit: number;
  onFirstByte: (() => void) | undefined;
  resolve(records: ArrayBuffer[]): void;
  reject(error: unknown): void;
}

/** The worker's end of the port to one leader. */
export class LeaderPort {
  readonly #port: Port;
  readonly #clock: Clock;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #watch: SilenceWatch | undefined;
  /** As the leader reported it since the last question. */
  #status: NodesStatus | undefined;
  /** The error of all requests of a port whose leader is gone. */
  lost: AntwayError | undefined;

  constructor(port: Port, clock: Clock) {
    this.#port = port;
    this.#clock = clock;
    port.addEventListener('message', ({ data }) => this.#received(data));
    port.addEventListener('messageerror', () => this.end());
    // Only some browsers report that the other side is gone. Silence tells the others.
    port.addEventListener('close', () => this.end());
    port.start();
  }

  /** @throws `lost` if the leader is gone; the leader's AntwayError; the signal's reason when aborted. */
  async ask(
    kind: RecordKind,
    address: Address,
    limit: number,
    options: PortRequestOptions,
  ): Promise<ArrayBuffer[]> {
    const { signal, onFirstByte } = options;
    signal.throwIfAborted();
    if (this.lost) throw this.lost;
    const id = this.#nextId++;
    let onAbort: () => void = () => undefined;
    try {
      return await new Promise((resolve, reject) => {
        onAbort = () => {
          this.#send({ type: 'cancel', id });
          reject(signal.reason);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        this.#pending.set(id, { address, kind, limit, onFirstByte, resolve, reject });
        this.#send({ type: 'request', id, kind, address: address.hex, limit });
        this.#watch ??= new SilenceWatch({
          clock: this.#clock,
          ask: () => this.#send({ type: 'ping' }),
          onSilent: () => this.end(),
        });
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#settled(id);
    }
  }

  /** Asks the leader for its status. @returns undefined if the leader is gone, or silent for a moment. */
  async report(): Promise<NodesStatus | undefined> {
    this.#status = undefined;
    this.#send({ type: 'ping' });
    for (let looks = 0; looks < portLimits.reportLooks && !this.#status && !this.lost; looks++) {
      await this.#clock.delay(portLimits.reportLookMs);
    }
    return this.#status;
  }

  /** Gives the port up. Requests in progress reject with `lost`. */
  end(): void {
    if (this.lost) return;
    this.#send({ type: 'end' });
    this.lost = new AntwayError('PEERS_UNREACHABLE', 'The page with the connections to nodes is gone.', {
      problem: 'leader-lost',
    });
    this.#watch?.end();
    this.#port.close();
    for (const { reject } of this.#pending.values()) reject(this.lost);
    this.#pending.clear();
  }

  #send(message: WorkerMessage): void {
    if (!this.lost) this.#port.postMessage(message);
  }

  #settled(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size > 0) return;
    this.#watch?.end();
    this.#watch = undefined;
  }

  #received(data: unknown): void {
    if (this.lost) return;
    const message = parseLeaderMessage(data);
    if (!message || message.type === 'end') {
      this.end();
      return;
    }
    this.#watch?.heard();
    if (message.type === 'status') this.#status = message.status;
    // The answer to a request that was cancelled may have been on its way.
    else {
      const pending = this.#pending.get(message.id);
      if (pending) this.#answered(message, pending);
    }
  }

  #answered(message: Exclude<LeaderMessage, { type: 'status' | 'end' }>, pending: Pending): void {
    if (message.type === 'first-byte') pending.onFirstByte?.();
    else if (message.type === 'error') {
      const text = sanitizeText(message.message, portLimits.messageCharacters);
      pending.reject(new AntwayError(message.code, text, { address: pending.address.hex }));
    } else if (isAllowed(message.records, pending)) pending.resolve(message.records);
    else this.end();
  }
}

function isAllowed(records: readonly ArrayBuffer[], { kind, limit }: Pending): boolean {
  return (
    (kind === 'pointer' || records.length === 1) && records.every(({ byteLength }) => byteLength <= limit)
  );
}
