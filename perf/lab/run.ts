import type { Machine } from '../machine.ts';
import type { Measure, Role, Scale, Target } from './scenario.ts';

/** One timed run of a case, as it is stored. */
export interface Sample {
  case: string;
  /** From 0. Only what was measured in one round is compared. */
  round: number;
  bytes: number;
  requests: number;
  milliseconds: number;
  /** Of the requests, where there are several: median, 95th and 99th percentile in milliseconds. */
  latencyMs?: { p50: number; p95: number; p99: number };
  processorMs?: number;
  workerPeakBytes?: number;
}

export interface CaseDescription {
  name: string;
  role: Role;
  group?: string;
}

/** The results of a scenario. */
export interface ScenarioRun {
  name: string;
  summary: string;
  measure: Measure;
  targets: readonly Target[];
  cases: CaseDescription[];
  samples: Sample[];
  /** Cases that failed, and the set-up when it did (then `case` is missing). */
  failures: { case?: string; message: string }[];
  /** It took, with its set-up. */
  seconds: number;
}

/** The file that `pnpm perf` stores. */
export interface LabRun {
  format: 1;
  machine: Machine;
  scale: Scale;
  scenarios: ScenarioRun[];
}
