import { AntwayError, type ErrorCode, type ErrorDetails } from '../../errors.ts';
import type { BatchRequest } from '../../payment/batch.ts';
import type { PaymentChain } from '../../payment/chain.ts';
import { paymentError } from '../../payment/errors.ts';
import type { NodePrice } from '../../payment/node-price.ts';
import type { PaymentRoute, RecordPayment, RecordQuote } from '../../payment/payment-route.ts';
import type { RecordToStore } from '../../payment/quotes.ts';

/** The messages between the publishing worker and its page, which has the connections. Both are of the same build. */
type Ask =
  | { ask: 'check'; chain: PaymentChain }
  | { ask: 'quotes'; records: readonly RecordToStore[] }
  | { ask: 'pools'; request: BatchRequest }
  | { ask: 'store'; payment: RecordPayment; bytes: Uint8Array<ArrayBuffer> };
type Request = (Ask & { id: number }) | { ask: 'cancel'; id: number };
type Answer =
  | { id: number; asked: number }
  | { id: number; value: unknown }
  | { id: number; code: ErrorCode; message: string; details: ErrorDetails };

/** Answers a worker for as long as the page has the route. @returns a function that ends the running requests. */
export function serveRoute(port: MessagePort, route: PaymentRoute): () => void {
  const running = new Map<number, AbortController>();
  const send = (answer: Answer) => port.postMessage(answer);
  port.onmessage = async ({ data }: MessageEvent<Request>) => {
    const { id } = data;
    if (data.ask === 'cancel') {
      running.get(id)?.abort();
      return;
    }
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const value = await answerTo(data, route, controller.signal, (asked) => send({ id, asked }));
      send({ id, value });
    } catch (error) {
      if (controller.signal.aborted) return;
      const { code, message, details } = asKnown(error);
      send({ id, code, message, details });
    } finally {
      running.delete(id);
    }
  };
  return () => {
    port.close();
    for (const controller of running.values()) controller.abort();
  };
}

function answerTo(
  request: Ask,
  route: PaymentRoute,
  signal: AbortSignal,
  onProgress: (asked: number) => void,
): Promise<unknown> {
  switch (request.ask) {
    case 'check':
      return route.check(request.chain, signal);
    case 'quotes':
      return route.quotes(request.records, signal, onProgress);
    case 'pools':
      return route.pools(request.request, signal, onProgress);
    case 'store':
      return route.store(request.payment, request.bytes, signal);
  }
}

function asKnown(error: unknown): AntwayError {
  if (error instanceof AntwayError) return error;
  return paymentError('SHORTFALL', `Direct access failed: ${(error as Error).message}`, {}, error);
}

interface Pending {
  onProgress(asked: number): void;
  resolve(value: unknown): void;
  reject(error: AntwayError): void;
}

/** A route of the page, for its publishing worker: only a window can connect to nodes. */
export class PortRoute implements PaymentRoute {
  readonly url = 'Direct access';
  readonly isDirect = true;
  readonly hasBatches = true;
  readonly #port: MessagePort;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<Answer>) => {
      const pending = this.#pending.get(data.id);
      if ('asked' in data) pending?.onProgress(data.asked);
      else if ('value' in data) pending?.resolve(data.value);
      else pending?.reject(new AntwayError(data.code, data.message, data.details));
    };
  }

  async check(chain: PaymentChain, signal: AbortSignal): Promise<void> {
    await this.#ask({ ask: 'check', chain }, signal);
  }

  quotes(
    records: readonly RecordToStore[],
    signal: AbortSignal,
    onProgress?: (asked: number) => void,
  ): Promise<RecordQuote[]> {
    return this.#ask({ ask: 'quotes', records }, signal, onProgress) as Promise<RecordQuote[]>;
  }

  pools(
    request: BatchRequest,
    signal: AbortSignal,
    onProgress?: (asked: number) => void,
  ): Promise<NodePrice[][] | undefined> {
    return this.#ask({ ask: 'pools', request }, signal, onProgress) as Promise<NodePrice[][] | undefined>;
  }

  async store(payment: RecordPayment, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    await this.#ask({ ask: 'store', payment, bytes }, signal);
  }

  #ask(
    ask: Ask,
    signal: AbortSignal,
    onProgress: (asked: number) => void = () => undefined,
  ): Promise<unknown> {
    signal.throwIfAborted();
    const id = ++this.#lastId;
    const cancelling = new AbortController();
    return new Promise<unknown>((resolve, reject) => {
      const cancel = () => {
        this.#port.postMessage({ ask: 'cancel', id } satisfies Request);
        reject(signal.reason);
      };
      signal.addEventListener('abort', cancel, { once: true, signal: cancelling.signal });
      this.#pending.set(id, { onProgress, resolve, reject });
      this.#port.postMessage({ ...ask, id } satisfies Request);
    }).finally(() => {
      cancelling.abort();
      this.#pending.delete(id);
    });
  }
}
