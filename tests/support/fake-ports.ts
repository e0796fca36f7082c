import type { Port } from '../../src/nodes/port-messages.ts';
import { Freezer } from './freezer.ts';

/** One end of a channel. Messages arrive in later microtasks, so that a virtual clock cannot overtake them. */
export class FakePort extends EventTarget implements Port {
  /** All that this end received, in order. */
  readonly received: unknown[] = [];
  isClosed = false;
  #other: FakePort | undefined;
  readonly #freezer: Freezer;

  private constructor(freezer: Freezer) {
    super();
    this.#freezer = freezer;
  }

  static pair(freezer = new Freezer()): [worker: FakePort, page: FakePort] {
    const worker = new FakePort(new Freezer());
    const page = new FakePort(freezer);
    worker.#other = page;
    page.#other = worker;
    return [worker, page];
  }

  postMessage(message: unknown, options?: Transferable[] | StructuredSerializeOptions): void {
    const transfer = Array.isArray(options) ? options : (options?.transfer ?? []);
    const data: unknown = structuredClone(message, { transfer: transfer as ArrayBuffer[] });
    const other = this.#other;
    if (other && !this.isClosed) queueMicrotask(() => other.#deliver(data));
  }

  start(): void {}

  close(): void {
    this.isClosed = true;
  }

  #deliver(data: unknown): void {
    this.#freezer.run(() => {
      if (this.isClosed) return;
      this.received.push(data);
      this.dispatchEvent(new MessageEvent('message', { data }));
    });
  }
}
