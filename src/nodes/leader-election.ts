import { isAbort } from '../errors.ts';
import type { Clock } from './clock.ts';
import { SilenceWatch } from './silence-watch.ts';

const lockName = 'antway-nodes';

/** The part of a `BroadcastChannel` that is used. It reaches the other pages, not the sender. */
export type PageChannel = Pick<BroadcastChannel, 'postMessage' | 'addEventListener' | 'close'>;

export interface LeaderElectionOptions {
  locks: Pick<LockManager, 'request'>;
  /** Called each time that the page joins: a channel that stayed open would remove the page from the back cache. */
  openChannel(): PageChannel;
  clock: Clock;
  /** Called when this page becomes the leader. The signal aborts when the page loses the connections. */
  lead(signal: AbortSignal): void;
  /**
   * Called if the browser refuses the lock or the channel, or `lead` fails. The page does not try again until it joins
   * again.
   */
  onError(error: unknown): void;
}

/**
 * Elects one page at a time as the leader, which has the connections to nodes. The leader holds a Web Lock. The other
 * pages wait for it, and ask the leader for heartbeats. If the leader is silent, because the browser has frozen it, a
 * waiting page steals the lock.
 */
export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  #joined: AbortController | undefined;
  #isLeader = false;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Waits for the lock from now on. */
  join(): void {
    if (this.#joined) return;
    this.#joined = new AbortController();
    void this.#run(this.#joined.signal);
  }

  /** Gives the lock to the next page at once. Call this before the page is closed or frozen. */
  leave(): void {
    this.#joined?.abort();
    this.#joined = undefined;
  }

  async #run(left: AbortSignal): Promise<void> {
    try {
      const channel = this.#options.openChannel();
      left.addEventListener('abort', () => channel.close(), { once: true });
      for (let steals = false; !left.aborted; ) steals = await this.#turn(left, channel, steals);
    } catch (error) {
      if (left.aborted) return;
      this.leave();
      this.#options.onError(error);
    }
  }

  /**
   * Waits for the lock or steals it, and holds it.
   * @returns once the page has no lock: whether it should steal one, because the leader is silent.
   */
  async #turn(left: AbortSignal, channel: PageChannel, steals: boolean): Promise<boolean> {
    const silent = new AbortController();
    const turn = new AbortController();
    let hasLed = false;
    const hold = () => {
      watch?.end();
      if (left.aborted || turn.signal.aborted) return undefined;
      hasLed = true;
      return this.#hold(left, turn.signal);
    };
    const beat = ({ data }: MessageEvent) => {
      if (data === 'beat') watch?.heard();
      else if (data === 'ask' && this.#isLeader) channel.postMessage('beat');
    };
    const watch = steals
      ? undefined
      : new SilenceWatch({
          clock: this.#options.clock,
          ask: () => channel.postMessage('ask'),
          onSilent: () => silent.abort(),
        });
    const stop = () => watch?.end();
    left.addEventListener('abort', stop, { once: true });
    channel.addEventListener('message', beat, { signal: turn.signal });
    // The other waiting pages need not steal too.
    if (steals) channel.postMessage('beat');
    const options: LockOptions = steals
      ? { steal: true }
      : { signal: AbortSignal.any([left, silent.signal]) };
    try {
      await this.#options.locks.request(lockName, options, hold);
      return false;
    } catch (error) {
      if (!isAbort(error, left)) throw error;
      // Without silence, another page has stolen the lock: this page was frozen, or slow.
      return silent.signal.aborted && !hasLed;
    } finally {
      turn.abort();
      stop();
      left.removeEventListener('abort', stop);
    }
  }

  /** Leads until the page leaves or the turn ends, and resolves then. */
  #hold(left: AbortSignal, turn: AbortSignal): Promise<void> {
    const lost = AbortSignal.any([left, turn]);
    this.#isLeader = true;
    return new Promise((resolve) => {
      lost.addEventListener(
        'abort',
        () => {
          this.#isLeader = false;
          resolve();
        },
        { once: true },
      );
      this.#options.lead(lost);
    });
  }
}

/**
 * Takes the connections from the leader, and does work before a page can lead again. A page that waits to lead steals the
 * lock if the work takes long. The work continues then.
 * @returns as the work. @throws the errors of the work, and of a lock that cannot be had.
 */
export async function withoutLeader<T>(
  locks: LeaderElectionOptions['locks'],
  work: () => Promise<T>,
): Promise<T> {
  let working: Promise<T> | undefined;
  try {
    return await locks.request(lockName, { steal: true }, () => {
      working = work();
      return working;
    });
  } catch (error) {
    if (!working) throw error;
    return working;
  }
}

/**
 * Joins while the page is alive: leaves before the browser closes or freezes the page, and joins when it is back.
 * @param signal ends that, and leaves.
 */
export function followLifecycle(
  election: Pick<LeaderElection, 'join' | 'leave'>,
  { window, document }: { window: EventTarget; document: EventTarget },
  signal: AbortSignal,
): void {
  if (signal.aborted) return;
  for (const [target, event] of [
    [window, 'pagehide'],
    [document, 'freeze'],
  ] as const) {
    target.addEventListener(event, () => election.leave(), { signal });
  }
  for (const [target, event] of [
    [window, 'pageshow'],
    [document, 'resume'],
  ] as const) {
    target.addEventListener(event, () => election.join(), { signal });
  }
  signal.addEventListener('abort', () => election.leave(), { once: true });
  election.join();
}
