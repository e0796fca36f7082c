import { Address } from '../address.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { raceAbort } from '../util/watchdog.ts';
import { resized } from './buffers.ts';
import type { Nodes } from './nodes.ts';
import { portLimits } from './port-limits.ts';
import { type LeaderMessage, type Port, parseWorkerMessage, type RecordRequest } from './port-messages.ts';
import { Semaphore } from './semaphore.ts';

export interface NodeLeaderOptions {
  nodes: Pick<Nodes, 'chunk' | 'pointers' | 'status' | 'close'>;
  /** Throw if the bytes of a node are not those of the address: then the next node is asked. */
  verify: {
    chunk(address: Address, bytes: Uint8Array): void | Promise<void>;
    pointer(address: Address, bytes: Uint8Array): void | Promise<void>;
  };
  /** Aborts when another page leads, or this page is left. */
  signal: AbortSignal;
  /** How long a request may take once it has its place, in milliseconds. Default: two minutes. */
  requestMs?: number;
}

/** Longer than all steps of a record from far nodes. A request that takes longer will never be answered. */
const longestRequestMs = 120_000;

/** Answers the requests of workers, in the page with the connections to nodes. */
export class NodeLeader {
  readonly #options: NodeLeaderOptions;
  readonly #places = new Semaphore(portLimits.atOnce);

  constructor(options: NodeLeaderOptions) {
    this.#options = options;
    const { signal, nodes } = options;
    if (signal.aborted) nodes.close();
    else signal.addEventListener('abort', () => nodes.close(), { once: true });
  }

  /**
   * Serves a worker, until one side ends. The worker knows by the first message that this page is the leader.
   * @returns a function that ends it.
   */
  serve(port: Port): () => void {
    let isEnded = false;
    const running = new Map<number, AbortController>();
    const places = new Semaphore(portLimits.atOncePerPort);
    const send = (message: LeaderMessage, transfer: Transferable[] = []) => {
      if (!isEnded) port.postMessage(message, transfer);
    };
    const sendStatus = () => send({ type: 'status', status: this.#options.nodes.status });
    const end = () => {
      if (isEnded) return;
      send({ type: 'end' });
      isEnded = true;
      this.#options.signal.removeEventListener('abort', end);
      for (const controller of running.values()) controller.abort();
      running.clear();
      port.close();
    };
    const start = (request: RecordRequest) => {
      const controller = new AbortController();
      running.set(request.id, controller);
      void this.#answer(request, places, controller.signal, send).finally(() => {
        if (running.get(request.id) === controller) running.delete(request.id);
      });
    };
    port.addEventListener('message', ({ data }) => {
      if (isEnded) return;
      const message = parseWorkerMessage(data);
      if (message?.type === 'ping') sendStatus();
      else if (message?.type === 'cancel') {
        running.get(message.id)?.abort();
        running.delete(message.id);
      } else if (
        message?.type === 'request' &&
        !running.has(message.id) &&
        running.size < portLimits.requests
      ) {
        start(message);
      } else end();
    });
    port.addEventListener('messageerror', end);
    // Only some browsers report that the other side is gone.
    port.addEventListener('close', end);
    port.start();
    if (this.#options.signal.aborted) end();
    else {
      this.#options.signal.addEventListener('abort', end, { once: true });
      sendStatus();
    }
    return end;
  }

  /** Sends an answer or an error, and nothing once the request is cancelled. Never rejects. */
  async #answer(
    request: RecordRequest,
    places: Semaphore,
    signal: AbortSignal,
    send: (message: LeaderMessage, transfer?: Transferable[]) => void,
  ): Promise<void> {
    const { id } = request;
    const held: (() => void)[] = [];
    try {
      for (const each of [places, this.#places]) held.push(await each.take(signal));
      let hasBegun = false;
      const { requestMs = longestRequestMs } = this.#options;
      const timeout = AbortSignal.timeout(requestMs);
      const either = AbortSignal.any([signal, timeout]);
      const reading = this.#read(request, either, () => {
        if (!hasBegun && !either.aborted) send({ type: 'first-byte', id });
        hasBegun = true;
      });
      const records = await raceAbort(reading, either).catch((error) => {
        if (!timeout.aborted) throw error;
        const message = `The nodes did not answer within ${requestMs / 1000} seconds.`;
        throw new AntwayError('PEERS_UNREACHABLE', message, { address: request.address });
      });
      if (!signal.aborted) send({ type: 'answer', id, records }, records);
    } catch (error) {
      if (signal.aborted) return;
      const { code, message } = asAntwayError(error);
      send({ type: 'error', id, code, message });
    } finally {
      for (const release of held) release();
    }
  }

  async #read(
    { kind, address: hex, limit }: RecordRequest,
    signal: AbortSignal,
    onFirstByte: () => void,
  ): Promise<ArrayBuffer[]> {
    const { nodes, verify } = this.#options;
    const address = Address.fromHex(hex);
    const checked = async (bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> => {
      if (bytes.length > limit) {
        throw new AntwayError('CORRUPT', `The record has ${bytes.length} bytes, more than ${limit}.`);
      }
      await verify[kind](address, bytes);
      return ownBuffer(bytes);
    };
    const options = { signal, onFirstByte, verify: checked };
    if (kind === 'chunk') return [await nodes.chunk(address, options)];
    return (await nodes.pointers(address, options)).slice(0, portLimits.records);
  }
}

/** A buffer of exactly these bytes, which can be transferred. The given bytes are of no use afterwards. */
function ownBuffer(bytes: Uint8Array<ArrayBuffer>): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = bytes;
  new Uint8Array(buffer).copyWithin(0, byteOffset, byteOffset + byteLength);
  return resized(buffer, byteLength);
}
