import type { Browser, CDPSession } from '@playwright/test';

/** The developer tools' connection to one service worker, which Playwright itself has none to. */
export class WorkerInspector {
  #nextId = 1;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();

  private constructor(
    private readonly browser: CDPSession,
    private readonly sessionId: string,
  ) {}

  /** @returns undefined when no worker of this script runs. */
  static async attach(browser: Browser, scriptUrl: string): Promise<WorkerInspector | undefined> {
    const session = await browser.newBrowserCDPSession();
    const { targetInfos } = await session.send('Target.getTargets');
    const target = targetInfos.find(({ type, url }) => type === 'service_worker' && url === scriptUrl);
    if (!target) {
      await session.detach();
      return undefined;
    }
    // Not “flat”: Playwright knows only the sessions that it opened itself.
    const { sessionId } = await session.send('Target.attachToTarget', { targetId: target.targetId });
    const inspector = new WorkerInspector(session, sessionId);
    session.on('Target.receivedMessageFromTarget', ({ message }) => inspector.#receive(message));
    session.on('Target.detachedFromTarget', () => inspector.#fail());
    return inspector;
  }

  /** Sends a command of the developer tools' protocol. @throws Error when it fails or the worker ends. */
  async send<T>(method: string, params: object = {}): Promise<T> {
    const id = this.#nextId++;
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    answer.catch(() => undefined); // may fail while the message is still being handed over
    await this.browser.send('Target.sendMessageToTarget', {
      sessionId: this.sessionId,
      message: JSON.stringify({ id, method, params }),
    });
    return (await answer) as T;
  }

  async detach(): Promise<void> {
    await this.browser.detach();
    this.#fail();
  }

  #receive(message: string): void {
    const { id, result, error } = JSON.parse(message);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  #fail(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error('The worker has ended.'));
    this.#waiting.clear();
  }
}

/** Processor time that all processes of a browser which run now have taken so far, in milliseconds. */
export async function processorMs(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  try {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return 1000 * processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
  } finally {
    await session.detach();
  }
}

/** The result of `Runtime.getHeapUsage`, in bytes. */
interface HeapUsage {
  usedSize: number;
  embedderHeapUsedSize: number;
  /** Of array buffers, WebAssembly's memories among them. */
  backingStorageSize: number;
}

const sampleEveryMs = 100;

/** Watches the memory of a worker: heap and buffers, what is garbage but not yet collected included. */
export class MemoryWatch {
  #peakBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  private constructor(private readonly inspector: WorkerInspector) {}

  /** @returns undefined when the worker does not run. */
  static async start(browser: Browser, scriptUrl: string): Promise<MemoryWatch | undefined> {
    const inspector = await WorkerInspector.attach(browser, scriptUrl);
    if (!inspector) return undefined;
    const watch = new MemoryWatch(inspector);
    await watch.#sample();
    return watch;
  }

  /** Takes a last sample. @returns the most that was seen, in bytes. */
  async stop(): Promise<number> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#sample();
    await this.inspector.detach();
    return this.#peakBytes;
  }

  async #sample(): Promise<void> {
    const usage = await this.inspector.send<HeapUsage>('Runtime.getHeapUsage').catch(() => undefined);
    if (usage) {
      const { usedSize, embedderHeapUsedSize, backingStorageSize } = usage;
      this.#peakBytes = Math.max(this.#peakBytes, usedSize + embedderHeapUsedSize + backingStorageSize);
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#sample(), sampleEveryMs);
  }
}
