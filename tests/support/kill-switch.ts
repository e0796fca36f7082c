import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext } from '@playwright/test';

/**
 * Kills a browser at a step of an upload that is paid for. The steps of its pages and their workers are the changes of the
 * journal, and the beginning and the end of each request that pays or stores. The context must bypass the policy of the
 * pages (`bypassCSP`).
 */
export class KillSwitch {
  #steps = 0;
  #last = Number.POSITIVE_INFINITY;
  #hasKilled = false;
  readonly #server = createServer((_, response) => {
    // The page waits for the answer until it is dead.
    this.#hasKilled = this.#steps++ === this.#last;
    if (this.#hasKilled) this.kill();
    else response.setHeader('access-control-allow-origin', '*').end();
  });

  private constructor(private readonly kill: () => void) {}

  /** @param kill ends the process of the browser. */
  static async start(kill: () => void): Promise<KillSwitch> {
    const killSwitch = new KillSwitch(kill);
    await new Promise<void>((resolve) => killSwitch.#server.listen(0, '127.0.0.1', resolve));
    return killSwitch;
  }

  /** Watches the pages of a context, and kills it after so many further steps. */
  async watch(context: BrowserContext, steps = Number.POSITIVE_INFINITY): Promise<void> {
    this.#steps = 0;
    this.#hasKilled = false;
    this.#last = steps;
    const { port } = this.#server.address() as AddressInfo;
    const run = `(${watchSteps})(${JSON.stringify(`http://127.0.0.1:${port}/`)});`;
    await context.addInitScript({ content: `${run}(${watchWorkers})(${JSON.stringify(run)});` });
  }

  /** Whether it has killed the browser that it watched last. */
  get hasKilled(): boolean {
    return this.#hasKilled;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Runs in each page and each worker. */
function watchSteps(url: string): void {
  const step = () => {
    const request = new XMLHttpRequest();
    request.open('POST', url, false);
    request.send();
  };
  for (const name of ['put', 'delete'] as const) {
    const change = IDBObjectStore.prototype[name] as (...args: unknown[]) => IDBRequest;
    Object.assign(IDBObjectStore.prototype, {
      [name](this: IDBObjectStore, ...args: unknown[]) {
        if (this.transaction.db.name === 'antway-payments') step();
        return change.apply(this, args);
      },
    });
  }
  const send = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const pays = typeof init?.body === 'string' && init.body.includes('eth_sendTransaction');
    const isStep = pays || init?.method === 'PUT';
    if (isStep) step();
    const response = await send(input, init);
    if (isStep) step();
    return response;
  };
}

/** Runs in each page: its workers run a script before their own one. */
function watchWorkers(script: string): void {
  const start = (url: string) => `
    ${script}
    const early = [];
    const keep = (event) => early.push(event);
    addEventListener('message', keep);
    await import(${JSON.stringify(url)});
    removeEventListener('message', keep);
    for (const { data, ports } of early) dispatchEvent(new MessageEvent('message', { data, ports }));`;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      const source = start(new URL(url, document.baseURI).href);
      super(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), options);
    }
  };
}
