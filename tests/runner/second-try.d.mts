import type { FailedTest, Failure } from './failures.mjs';

/** The counts of one suite. */
export interface Result {
  name: string;
  passed: number;
  /** The number of failures, and 1 more for a `problem`. */
  failed: number;
  failures: Failure[];
  /** The failure of the runner itself. */
  problem?: string;
  /** Runs a failed test once more, alone. Resolves with whether it passed. Only suites with browsers have it. */
  runAgain?(test: FailedTest): Promise<boolean>;
  /** Wall time in seconds, and the idle share of all processors meanwhile, from 0 to 1. */
  seconds?: number;
  idle?: number;
}
export function eligible(results: Result[]): { result: Result; failure: Failure }[];
export function trySecondTime(results: Result[]): Promise<(Failure & { suite: string })[]>;
export function reportUnstable(unstable: (Failure & { suite: string })[], folder: string): Promise<void>;
