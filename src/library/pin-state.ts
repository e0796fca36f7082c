import type { ErrorCode } from '../errors.ts';

/** How much of something is stored. */
export interface Share {
  stored: number;
  /** Of bytes: what is stored as it is, and what is missing by the length it opens to. */
  total: number;
}

/** How much of a site is stored. */
export interface Tally {
  chunks: Share;
  bytes: Share;
}

/** What the shell is told of a pin. Sizes in bytes, times in milliseconds. */
export interface PinState extends Tally {
  /** `partial`: some chunks are not here yet. `damaged`: the disk had lost some, and they are not back yet. */
  state: 'complete' | 'partial' | 'damaged';
  /** `waiting`: for its turn, or until it makes sense to try again what `problem` is about. */
  activity: 'idle' | 'fetching' | 'verifying' | 'paused' | 'waiting';
  bytesPerSecond: number | null;
  secondsLeft: number | null;
  problem: { code: ErrorCode; message: string } | null;
}

/** A pin in the list of all. */
export interface ListedPin extends PinState {
  address: string;
}
