import * as v from 'valibot';
import type { Address } from '../address.ts';
import { AntwayError, isAbort } from '../errors.ts';
import { ByteReader } from '../peers/transports/byte-reader.ts';
import * as s from '../schema.ts';
import { Backoff } from '../util/backoff.ts';
import { delay } from '../util/delay.ts';
import { type BatchRequest, checkPool } from './batch.ts';
import { isSameChain, type PaymentChain } from './chain.ts';
import { paymentError } from './errors.ts';
import type { NodePrice } from './node-price.ts';
import type { PaymentRoute, RecordPayment, RecordQuote } from './payment-route.ts';
import { checkOffer, type RecordToStore } from './quotes.ts';
import { BadAnswer, readJson } from './read-json.ts';

const contract = s.pattern(/^0x[0-9a-f]{40}$/, 'it must be 0x and 40 hex digits');

const infoSchema = s.object({
  chainId: s.integer('chains'),
  token: contract,
  vault: contract,
  settlementVersion: v.number(),
  maxQuotes: v.pipe(s.integer('records'), v.minValue(1)),
  merkle: v.optional(v.boolean(), false),
});

const poolsSchema = s.object({
  pools: v.array(v.looseObject({ address: v.string(), status: v.picklist(['quoted', 'unavailable']) })),
});

const answerSchema = s.object({
  records: v.array(
    v.looseObject({ address: v.string(), status: v.picklist(['stored', 'quoted', 'unavailable']) }),
  ),
});

const errorSchema = s.object({ code: s.pattern(/^[A-Z_]{1,40}$/, 'it must be a code') });

/** The rules of payment that this code follows, as the network numbers them. */
const settlementVersion = 1;
/** A plan has some 50 kB. */
const quotesPerRequest = 8;
/** A pool has some 200 kB. */
const poolsPerRequest = 4;
const infoMs = 15_000;
const quotesMs = 180_000;
const storeMs = 120_000;
/** A relay asks the nodes for 45 seconds, after up to ten seconds in its queue. */
const readMs = 60_000;
const maxAnswerBytes = 8 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
const tries = 6;
const readTries = 3;

/** The newest state of a pointer in the network, as a relay tells it. */
export interface NewestState {
  record: Uint8Array<ArrayBuffer>;
  /** How many of the closest nodes have this state. A relay of an older version does not tell it. */
  holders?: number;
  /** How many others of them answered. */
  others?: number;
}

/** A peer that brings paid records to the network: docs/reference/paid-uploads.md. Nothing that it says is trusted. */
export class Relay implements PaymentRoute {
  readonly isDirect = false;
  hasBatches = false;

  /**
   * @param url the origin.
   * @param firstRetryMs the delay before the second try of a request. It grows up to 16 times.
   */
  constructor(
    readonly url: string,
    private readonly firstRetryMs = 1000,
  ) {}

  async check(chain: PaymentChain, signal: AbortSignal): Promise<void> {
    const info = await this.#retry(signal, async () => {
      const response = await this.#request('/network/info', {}, infoMs, signal);
      if (response.status === 404) {
        throw paymentError('CHAIN', `${this.url} takes no paid uploads.`, { relay: this.url });
      }
      if (!response.ok) throw await this.#failure(response, signal);
      return this.#json(infoSchema, response, signal);
    });
    if (!isSameChain(info, chain) || info.settlementVersion !== settlementVersion) {
      const { chainId, token, vault } = info;
      const message = `${this.url} wants to be paid elsewhere: chain ${chainId}, token ${token}, vault ${vault}. Nothing was paid.`;
      throw paymentError('CHAIN', message, { relay: this.url, chainId, token, vault });
    }
    this.hasBatches = info.merkle;
  }

  async quotes(
    records: readonly RecordToStore[],
    signal: AbortSignal,
    onProgress: (asked: number) => void = () => undefined,
  ): Promise<RecordQuote[]> {
    const quoted: RecordQuote[] = [];
    for (let at = 0; at < records.length; at += quotesPerRequest) {
      quoted.push(...(await this.#quoteSome(records.slice(at, at + quotesPerRequest), signal)));
      onProgress(quoted.length);
    }
    return quoted;
  }

  async #quoteSome(records: readonly RecordToStore[], signal: AbortSignal): Promise<RecordQuote[]> {
    const asked = records.map(({ address, stateId, size }) =>
      stateId === undefined ? { address, size } : { address, stateId },
    );
    const body = JSON.stringify({ records: asked });
    return this.#retry(signal, async () => {
      const response = await this.#request('/network/quotes', { method: 'POST', body }, quotesMs, signal);
      if (!response.ok) throw await this.#failure(response, signal);
      const answer = await this.#json(answerSchema, response, signal);
      if (answer.records.length !== records.length)
        throw paymentError('QUOTE', `${this.url} did not answer for all records.`, { relay: this.url });
      const quoted = answer.records.map((value, i): RecordQuote => {
        const record = records[i]!;
        if (value.status !== 'quoted') return { status: value.status };
        return { status: 'quoted', offer: checkOffer(value, record) };
      });
      const lacks = quoted.filter(({ status }) => status === 'unavailable').length;
      if (lacks > 0) throw new Retry(`Too few nodes gave a price for ${lacks} of ${records.length} records.`);
      return quoted;
    });
  }

  async pools(
    { poolAddresses, timestamp }: BatchRequest,
    signal: AbortSignal,
    onProgress: (asked: number) => void = () => undefined,
  ): Promise<NodePrice[][] | undefined> {
    const pools: NodePrice[][] = [];
    for (let at = 0; at < poolAddresses.length; at += poolsPerRequest) {
      const some = await this.#askForPools(poolAddresses.slice(at, at + poolsPerRequest), timestamp, signal);
      if (!some) return undefined;
      pools.push(...some);
      onProgress(pools.length);
    }
    return pools;
  }

  async #askForPools(
    addresses: readonly string[],
    timestamp: number,
    signal: AbortSignal,
  ): Promise<NodePrice[][] | undefined> {
    const body = JSON.stringify({ timestamp, pools: addresses });
    return this.#retry(signal, async () => {
      const response = await this.#request('/network/merkle', { method: 'POST', body }, quotesMs, signal);
      if (!response.ok) throw await this.#failure(response, signal);
      const { pools } = await this.#json(poolsSchema, response, signal);
      if (pools.length !== addresses.length || !pools.every(({ address }, i) => address === addresses[i]))
        throw paymentError('QUOTE', `${this.url} did not answer for all pools.`, { relay: this.url });
      // The network may be too small for batches.
      if (pools.some(({ status }) => status === 'unavailable')) return undefined;
      return pools.map((pool) => this.#checkedPool(pool.nodes, timestamp));
    });
  }

  #checkedPool(nodes: unknown, timestamp: number): NodePrice[] {
    try {
      return checkPool(nodes, timestamp);
    } catch (error) {
      const message = `The nodes that ${this.url} names for a batch are not valid: ${(error as Error).message}`;
      throw paymentError('QUOTE', message, { relay: this.url }, error);
    }
  }

  async store(payment: RecordPayment, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    const head = new TextEncoder().encode(JSON.stringify(payment));
    const length = new DataView(new ArrayBuffer(4));
    length.setUint32(0, head.length, true);
    const body = new Blob([length.buffer, head, bytes]);
    const { address, stateId } = 'plan' in payment ? payment.plan : { ...payment.merkle, stateId: undefined };
    const path = `/network/${stateId === undefined ? 'chunk' : 'pointer'}/${address}`;
    await this.#retry(signal, async () => {
      const response = await this.#request(path, { method: 'PUT', body }, storeMs, signal);
      if (!response.ok) throw await this.#failure(response, signal, address);
      await response.body?.cancel();
    });
  }

  /**
   * Reads the newest state of a pointer that a node close to its address has. The relay's own store does not count. The record
   * is not verified.
   * @throws AntwayError `NOT_FOUND` if the network has none, `CORRUPT` if the answer is too long, `DENIED` or `REFUSED` if the
   *   relay does not want to, `OLD_RELAY` if the relay cannot read the network, `SHORTFALL` if it does not answer.
   */
  async pointer({ hex }: Address, maxBytes: number, signal: AbortSignal): Promise<NewestState> {
    const read = async (): Promise<NewestState> => {
      const init = { cache: 'no-store' } as const;
      const response = await this.#request(`/network/pointer/${hex}`, init, readMs, signal);
      const { status, headers } = response;
      if (status === 200) {
        const holders = countIn(headers.get('antway-holding-nodes'));
        const others = countIn(headers.get('antway-other-nodes'));
        const record = await this.#bytes(response, maxBytes, signal);
        return { record, ...(holders !== undefined && others !== undefined && { holders, others }) };
      }
      const code = await codeOf(response);
      signal.throwIfAborted();
      const details = { relay: this.url, address: hex, status, code };
      // The code shows that it is not the answer of another server, or of a peer without this route.
      if (status === 404 && code === 'NOT_FOUND')
        throw new AntwayError('NOT_FOUND', 'The network does not have this pointer.', details);
      if (status === 404 || status === 405) {
        const message = `${this.url} is of an older version, which does not read lasting addresses from the network. Update this peer, or use another one.`;
        throw paymentError('OLD_RELAY', message, details);
      }
      if (isTemporary(status)) throw new Retry(`The relay answered ${code ?? status}.`);
      if (status === 403 || status === 451) {
        const message = `${this.url} refuses to read this address from the network (${code ?? status}). Use another peer.`;
        throw new AntwayError(status === 451 ? 'DENIED' : 'REFUSED', message, details);
      }
      throw paymentError('SHORTFALL', `${this.url} refused: ${code ?? status}.`, details);
    };
    return this.#retry(signal, read, readTries);
  }

  /** @param most the number of tries. */
  async #retry<T>(signal: AbortSignal, work: () => Promise<T>, most = tries): Promise<T> {
    const backoff = new Backoff({ firstMs: this.firstRetryMs, maxMs: 16 * this.firstRetryMs });
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Retry)) throw error;
        if (attempt === most) {
          throw (
            error.final ??
            paymentError('SHORTFALL', `${this.url}: ${error.message}`, { relay: this.url }, error)
          );
        }
        await delay(backoff.next(), signal);
      }
    }
  }

  async #request(path: string, init: RequestInit, timeoutMs: number, signal: AbortSignal): Promise<Response> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await fetch(this.url + path, {
        ...init,
        signal: either,
        credentials: 'omit',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
      });
    } catch (error) {
      if (isAbort(error, signal)) throw signal.reason;
      throw new Retry(`The relay does not answer (${(error as Error).message}).`, undefined, error);
    }
  }

  async #bytes(response: Response, maxBytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const reader = new ByteReader(response.body ?? new Blob([]).stream(), () => undefined);
    const bytes = await reader.readToEnd(maxBytes).catch((error) => {
      signal.throwIfAborted();
      throw new Retry(`The answer breaks off (${error.message}).`, undefined, error);
    });
    if (bytes) return bytes;
    await reader.cancel();
    throw new AntwayError('CORRUPT', `${this.url} sent more than ${maxBytes} bytes.`, { relay: this.url });
  }

  async #json<T>(schema: s.Schema<T>, response: Response, signal: AbortSignal): Promise<T> {
    try {
      return s.parse(schema, await readJson(response, maxAnswerBytes), 'CORRUPT');
    } catch (error) {
      signal.throwIfAborted();
      const { message } = error as Error;
      if (!(error instanceof BadAnswer || error instanceof AntwayError))
        throw new Retry(`The answer breaks off (${message}).`, undefined, error);
      const text = `The answer of ${this.url} cannot be read: ${message}`;
      throw paymentError('QUOTE', text, { relay: this.url }, error);
    }
  }

  async #failure(response: Response, signal: AbortSignal, address?: string): Promise<Error> {
    const details = { relay: this.url, status: response.status, ...(address ? { address } : {}) };
    const code = await codeOf(response);
    signal.throwIfAborted();
    // This is not trouble of one record: a relay with paid uploads answers none of them.
    if (address !== undefined && [403, 404, 405].includes(response.status)) {
      const message = `${this.url} takes no paid uploads from here (${code ?? response.status}).`;
      return paymentError('CHAIN', message, { ...details, code });
    }
    switch (response.status) {
      // A node may be some seconds behind the chain.
      case 402: {
        const message = `The nodes see no payment for ${address}. The payment is saved: try again later, or at another relay.`;
        return new Retry(message, paymentError('UNPAID', message, details));
      }
      case 409: {
        const message =
          'The network has a newer state of the pointer, which another device signed. Try again.';
        return paymentError('OUTDATED', message, details);
      }
      case 410: {
        const message = `The nodes do not accept the payment for ${address} any more. A paid node may be away, then try again later. A payment for many chunks expires after seven days.`;
        return paymentError('QUOTE_EXPIRED', message, details);
      }
      case 400:
        if (code === 'BAD_TIME') {
          const message = `The clock of this device and the one of ${this.url} are more than ten minutes apart. Nothing was paid.`;
          return paymentError('CLOCK', message, details);
        }
        break;
    }
    if (isTemporary(response.status)) return new Retry(`The relay answered ${code ?? response.status}.`);
    return paymentError('SHORTFALL', `${this.url} refused: ${code ?? response.status}.`, {
      ...details,
      code,
    });
  }
}

/** @returns undefined if the answer is not the error of a relay. */
async function codeOf(response: Response): Promise<string | undefined> {
  const body = await readJson(response, maxErrorBytes).catch(() => undefined);
  const parsed = v.safeParse(errorSchema, body);
  return parsed.success ? parsed.output.code : undefined;
}

function isTemporary(status: number): boolean {
  return [429, 500, 502, 503, 504].includes(status);
}

/** @returns undefined without a number, as at a relay of an older version. */
function countIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,3}$/.test(header) ? Number(header) : undefined;
}

/** A failure that may pass. */
class Retry extends Error {
  constructor(
    message: string,
    /** The error after the last try, if it is a special one. */
    readonly final?: Error,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
