import { type Address, toHex } from '../address.ts';
import { raceAbort } from '../util/watchdog.ts';
import type { NodeChannel } from './channel.ts';
import type { CandidateQuote } from './chunk-protocol.ts';
import { requestCandidate, requestPointer, sendBatchedChunk, sendPointer } from './chunk-requests.ts';
import type { Clock } from './clock.ts';
import { checkChunkStored, type NamedNodes, parseChunk, parseNodes, parseQuote } from './messages.ts';
import type { NodeAddress } from './node-address.ts';
import type {
  Abilities,
  NodeClient,
  NodeQuote,
  PaidChunk,
  ProvenChunk,
  ProvenState,
  RequestOptions,
} from './node-client.ts';
import { NodeConnection, smallFrame } from './node-connection.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import { Semaphore } from './semaphore.ts';
import { Handshake } from './session.ts';

/** Talks to a node over an open channel. */
export class ChannelClient implements NodeClient {
  readonly address: NodeAddress;
  readonly #connection: NodeConnection;
  /** For the chunks that the node stores. */
  readonly #puts = new Semaphore(1);

  private constructor(address: NodeAddress, connection: NodeConnection) {
    this.address = address;
    this.#connection = connection;
  }

  /**
   * Authenticates the node, and says hello. Closes the channel if that fails.
   * @param handshake is used once. A caller can make it while the channel opens, because its key takes time.
   * @throws AntwayError `PEERS_UNREACHABLE`, `CORRUPT`; the signal's reason when aborted.
   */
  static async connect(
    channel: NodeChannel,
    address: NodeAddress,
    clock: Clock,
    signal: AbortSignal,
    handshake = new Handshake(),
  ): Promise<ChannelClient> {
    return new ChannelClient(address, await NodeConnection.open(channel, address, clock, signal, handshake));
  }

  get isClosed(): boolean {
    return this.#connection.isClosed;
  }

  get isBusy(): boolean {
    return this.#connection.isBusy;
  }

  get isAwaited(): boolean {
    return this.#connection.isAwaited;
  }

  async abilities(signal: AbortSignal): Promise<Abilities> {
    const { capabilities, payment } = await this.#connection.hello(signal);
    const has = (...names: string[]) => names.every((name) => capabilities.has(name));
    return {
      hasPointers: has('pointer_protocol', 'chunk_protocol'),
      hasBatches: has('chunk_protocol'),
      payment: has('quote_chunk', 'put_chunk') ? payment : undefined,
    };
  }

  async findNode(
    target: Uint8Array,
    options: RequestOptions,
    count: number = nodeLimits.bucket,
  ): Promise<NamedNodes> {
    const text = toHex(target);
    const request = { type: 'find_node', target: text, count } as const;
    const response = await this.#connection.request(request, smallFrame, options);
    return this.#connection.parsed(response, () => parseNodes(response, text));
  }

  async getChunk(address: Address, options: RequestOptions): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const request = { type: 'get_chunk', address: address.hex } as const;
    const response = await this.#connection.request(request, smallFrame + nodeLimits.chunkBytes, options);
    return this.#connection.parsed(response, () => parseChunk(response, address.hex));
  }

  async quoteChunk(address: Address, size: number, options: RequestOptions): Promise<NodeQuote> {
    const request = { type: 'quote_chunk', address: address.hex, size } as const;
    const response = await this.#connection.request(request, smallFrame, options);
    return this.#connection.parsed(response, () => parseQuote(response, address.hex));
  }

  async putChunk({ address, bytes, quote, transaction }: PaidChunk, options: RequestOptions): Promise<void> {
    // A chunk is too large to be sent twice.
    await this.abilities(options.signal);
    const release = await this.#putPlace(options.signal);
    const paid = { quote, transaction_hash: transaction };
    const request = { type: 'put_chunk', address: address.hex, ...paid } as const;
    const content = { body: () => [bytes], workMs: nodeLimits.putMs };
    const response = await this.#connection.request(request, smallFrame, options, content, release);
    this.#connection.parsed(response, () => checkChunkStored(response, address.hex));
  }

  async quoteCandidate(pool: Address, timestamp: number, options: RequestOptions): Promise<CandidateQuote> {
    await this.#require('hasBatches', options.signal);
    return requestCandidate(this.#connection, pool, timestamp, options);
  }

  async putBatchedChunk(chunk: ProvenChunk, options: RequestOptions): Promise<void> {
    await this.#require('hasBatches', options.signal);
    await sendBatchedChunk(this.#connection, chunk, options, await this.#putPlace(options.signal));
  }

  async getPointer(address: Address, options: RequestOptions): Promise<Uint8Array<ArrayBuffer> | undefined> {
    await this.abilities(options.signal);
    return requestPointer(this.#connection, address, options);
  }

  async putPointer(state: ProvenState, options: RequestOptions): Promise<'stored' | 'stale'> {
    await this.#require('hasPointers', options.signal);
    return sendPointer(this.#connection, state, options);
  }

  close(): void {
    this.#connection.fail(nodeError('unreachable', 'The connection to a node is no longer needed.'));
  }

  /** A node stores one chunk of a connection at a time. @returns a function that ends the turn. */
  #putPlace(signal: AbortSignal): Promise<() => void> {
    return raceAbort(this.#puts.take(signal), this.#connection.end);
  }

  /** @throws AntwayError with `details.reason` `unsupported` if the node lacks the ability. */
  async #require(ability: 'hasPointers' | 'hasBatches', signal: AbortSignal): Promise<void> {
    if ((await this.abilities(signal))[ability]) return;
    const message = `A node stores no ${ability === 'hasPointers' ? 'pointers' : 'batches'}.`;
    throw nodeError('refused', message, undefined, { reason: 'unsupported' });
  }
}
