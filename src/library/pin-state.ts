import type { ErrorCode } from '../errors.ts';

/** How many chunks or bytes are stored, and of how many. */
export interface StoredCount {
  stored: number;
  /** For bytes: stored chunks count with their stored size, missing chunks with the length of their plaintext. */
  total: number;
}

/** The stored part of a site. */
export interface PinTally {
  chunks: StoredCount;
  bytes: StoredCount;
}

/** Why the work on a pin stopped. */
export interface PinProblem {
  code: ErrorCode;
  message: string;
  /** Whether the worker does not try again by itself, because waiting alone will not help. */
  isFinal: boolean;
}

/** The state of a pin for the shell. Sizes in bytes, times in milliseconds. */
export interface PinState extends PinTally {
  /** `partial`: some chunks are not stored yet. `damaged`: stored chunks were lost and are not fetched again yet. */
  state: 'complete' | 'partial' | 'damaged';
  /** `waiting`: for its turn, or for the time of the next retry after `problem`. */
  activity: 'idle' | 'fetching' | 'verifying' | 'paused' | 'waiting';
  bytesPerSecond: number | null;
  secondsLeft: number | null;
  problem: PinProblem | null;
}

export interface ListedPin extends PinState {
  address: string;
}
