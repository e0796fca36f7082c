import type { Freezer } from './freezer.ts';

interface Request {
  page: FakeLocks;
  name: string;
  callback: (lock: Lock) => unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** The locks of one origin. */
export class LockTable {
  readonly held = new Map<string, Request>();
  readonly queues = new Map<string, Request[]>();

  /** Grants a lock that is free. As in browsers, the callback runs in a later task. */
  grant(name: string): void {
    const request = this.held.has(name) ? undefined : this.queues.get(name)?.shift();
    if (!request) return;
    this.held.set(name, request);
    queueMicrotask(() => request.page.freezer.run(() => void this.#run(request)));
  }

  release(request: Request): void {
    if (this.held.get(request.name) !== request) return;
    this.held.delete(request.name);
    this.grant(request.name);
  }

  async #run(request: Request): Promise<void> {
    try {
      request.resolve(await request.callback({ name: request.name, mode: 'exclusive' }));
    } catch (error) {
      request.reject(error);
    } finally {
      this.release(request);
    }
  }
}

/**
 * Exclusive Web Locks for one page, by the algorithms of the specification. Node 20 has none. The page can be frozen: then
 * its callbacks and rejections wait.
 */
export class FakeLocks {
  readonly #table: LockTable;
  readonly freezer: Freezer;

  constructor(table: LockTable, freezer: Freezer) {
    this.#table = table;
    this.freezer = freezer;
  }

  readonly request = ((name: string, second: unknown, third?: unknown): Promise<unknown> => {
    const options = (third ? second : {}) as LockOptions;
    const callback = (third ?? second) as (lock: Lock | null) => unknown;
    const { steal = false, ifAvailable = false, signal, mode = 'exclusive' } = options;
    const isWrong =
      name.startsWith('-') ||
      (steal && ifAvailable) ||
      (signal && (steal || ifAvailable)) ||
      mode !== 'exclusive';
    if (isWrong)
      return Promise.reject(new DOMException('These options exclude each other.', 'NotSupportedError'));
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { held, queues } = this.#table;
    if (ifAvailable && (held.has(name) || queues.get(name)?.length)) {
      return Promise.resolve().then(() => callback(null));
    }
    return new Promise((resolve, reject) => {
      const request: Request = {
        page: this,
        name,
        callback,
        resolve: (value) => this.freezer.run(() => resolve(value)),
        reject: (error) => this.freezer.run(() => reject(error)),
      };
      const queue = queues.get(name) ?? [];
      queues.set(name, queue);
      if (steal) {
        const former = held.get(name);
        held.delete(name);
        former?.reject(new DOMException('The lock was stolen.', 'AbortError'));
        queue.unshift(request);
      } else queue.push(request);
      signal?.addEventListener(
        'abort',
        () => {
          const at = queue.indexOf(request);
          if (at < 0) return;
          queue.splice(at, 1);
          request.reject(signal.reason);
        },
        { once: true },
      );
      this.#table.grant(name);
    });
  }) as LockManager['request'];

  /** Ends the page, as a browser does: its lock is free, and its requests are removed. */
  destroy(): void {
    this.freezer.freeze();
    for (const queue of this.#table.queues.values()) {
      queue.splice(0, queue.length, ...queue.filter(({ page }) => page !== this));
    }
    for (const request of [...this.#table.held.values()])
      if (request.page === this) this.#table.release(request);
  }
}
