/** The costs of one request, for its `Server-Timing` header. Times are milliseconds. */
export class Trace {
  readonly #startedAt = performance.now();

  constructor(readonly path: string | null = null) {}

  /** Time to resolve the address (data map, index), including their chunks. */
  resolveMs = 0;
  /** Time spent waiting for peers. */
  fetchMs = 0;
  /** Time spent decrypting and decompressing. */
  decryptMs = 0;
  readonly chunks = { memory: 0, disk: 0, peer: 0, joined: 0 };
  /**
   * The records (hex) that were read to resolve the address. Those that came with them from a peer have their bytes. Undefined
   * if they are not needed.
   */
  records: Map<string, Uint8Array<ArrayBuffer> | undefined> | undefined;

  async time<T>(sum: 'resolveMs' | 'fetchMs' | 'decryptMs', work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this[sum] += performance.now() - startedAt;
    }
  }

  /** The current value of the header (https://www.w3.org/TR/server-timing/). */
  serverTiming(): string {
    const metrics = [
      ['resolve', this.resolveMs],
      ['fetch', this.fetchMs],
      ['decrypt', this.decryptMs],
      ['total', performance.now() - this.#startedAt],
    ] as const;
    const sources = Object.entries(this.chunks)
      .filter(([, count]) => count > 0)
      .map(([source, count]) => `${source} ${count}`)
      .join(', ');
    return [
      ...metrics.map(([name, milliseconds]) => `${name};dur=${milliseconds.toFixed(1)}`),
      `chunks;desc="${sources || 'none'}"`,
    ].join(', ');
  }
}
