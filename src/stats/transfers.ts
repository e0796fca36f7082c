import type { ErrorCode } from '../errors.ts';
import type { Trace } from './trace.ts';

/** One response to a page, as `/-/activity` reports it. */
export interface TransferReport {
  /** Unique for the life of a worker. */
  id: number;
  /** Path of the URL that was requested, cut after 1,000 characters. */
  path: string;
  /** Bytes of the body; null before they are known. */
  size: number | null;
  sent: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  endedAt: number | null;
  state: 'active' | 'done' | 'failed' | 'left';
  /** Where its chunks came from so far. */
  chunks: { memory: number; disk: number; peer: number };
}

const longestPath = 1_000;
/** The largest number of running transfers in a report. The newest are reported. */
const mostReported = 24;
/** Ended transfers stay in the report for this time, if they were not small. */
const recentMs = 20_000;
const mostRecent = 6;
const smallBytes = 256 * 1024;

/** A running response. */
export class Transfer {
  readonly startedAt = Date.now();
  size: number | null = null;
  sent = 0;
  endedAt: number | null = null;
  state: TransferReport['state'] = 'active';

  constructor(
    readonly id: number,
    readonly trace: Trace,
    readonly onEnd: (transfer: Transfer) => void,
  ) {}

  /** @param isLeft whether the page did not want the rest. */
  end(failure: ErrorCode | undefined, isLeft: boolean): void {
    this.state = failure ? 'failed' : isLeft ? 'left' : 'done';
    this.endedAt = Date.now();
    this.onEnd(this);
  }
}

/** The responses of this worker that are on their way to pages, and the last ones that ended. */
export class Transfers {
  readonly #running = new Map<number, Transfer>();
  #recent: Transfer[] = [];
  #started = 0;

  start(trace: Trace): Transfer {
    const transfer = new Transfer(++this.#started, trace, (ended) => this.#ended(ended));
    this.#running.set(transfer.id, transfer);
    return transfer;
  }

  #ended(transfer: Transfer): void {
    this.#running.delete(transfer.id);
    if (transfer.sent < smallBytes) return;
    // A player reads a film in many ranges: only the newest of them is of interest.
    const others = this.#recent.filter(({ trace }) => trace.path !== transfer.trace.path);
    this.#recent = [transfer, ...others].slice(0, mostRecent);
  }

  /** Running transfers, then ended ones. Newest first. */
  report(now = Date.now()): TransferReport[] {
    const running = [...this.#running.values()].slice(-mostReported).reverse();
    const paths = new Set(running.map(({ trace }) => trace.path));
    const recent = this.#recent.filter(
      ({ trace, endedAt }) => now - endedAt! < recentMs && !paths.has(trace.path),
    );
    return [...running, ...recent].map(reportOf);
  }

  /** Forgets ended transfers. */
  clear(): void {
    this.#recent = [];
  }
}

function reportOf({ id, trace, size, sent, startedAt, endedAt, state }: Transfer): TransferReport {
  const { memory, disk, peer } = trace.chunks;
  const path = (trace.path ?? '').slice(0, longestPath);
  return { id, path, size, sent, startedAt, endedAt, state, chunks: { memory, disk, peer } };
}
