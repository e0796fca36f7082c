import type { Lab } from './lab.ts';

/**
 * The program that does the work of a case:
 *
 * - `gateway`: Antway;
 * - `ceiling`: a service worker that answers the same from memory, which no gateway can do faster;
 * - `static`: an HTTP server on loopback, read by the same page without a worker;
 * - `bare`: a worker that moves the same chunks over WebTransport, and does not verify, decrypt or store them;
 * - `anttp`: AntTP with the same files, when `ANTTP_URL` names one;
 * - `native`: the network's own Rust crates.
 */
export const roles = ['gateway', 'ceiling', 'static', 'bare', 'anttp', 'native'] as const;
export type Role = (typeof roles)[number];
export type Baseline = Exclude<Role, 'gateway'>;

/** The results of one timed run. */
export interface Measured {
  /** Of bodies, or of plaintext. */
  bytes: number;
  requests: number;
  milliseconds: number;
  /** Of each request, from asking to its last byte. */
  latenciesMs?: number[];
  /** Processor time of all the browser's processes, in milliseconds: two cores have two of it in each. */
  processorMs?: number;
  /** The most memory that the gateway's worker was seen to have: its heap and its buffers. */
  workerPeakBytes?: number;
}

export interface Case {
  name: string;
  role: Role;
  /** Ratios are taken to the baselines of the same group. */
  group?: string;
  /** Brings about the state that is measured. Not timed. */
  prepare?(): Promise<void>;
  /** @throws Error when a byte is wrong, or comes from where it should not. */
  run(): Promise<Measured>;
}

/**
 * The measure of a scenario: bytes or requests per second (more is better), or the 95th percentile of the latency or
 * the whole time, in milliseconds (less is better).
 */
export type Measure = 'bytes' | 'requests' | 'p95' | 'time';

/** The target of a case. */
export interface Target {
  case: string;
  /** The scenario's own measure, if not given. */
  measure?: Measure | 'worker bytes';
  /** The ratio to this baseline counts, and not the measure itself. */
  of?: Baseline;
  atLeast?: number;
  atMost?: number;
}

export interface Scenario {
  name: string;
  /** One sentence: what is done, how often, and by whom. */
  summary: string;
  measure: Measure;
  /** Of a whole run. */
  rounds: number;
  /** Whether only Chromium's developer tools can measure it. */
  needsChromium?: boolean;
  /** Whether the case runs so long that its start does not matter. Then no round warms up. */
  isLong?: boolean;
  targets?: readonly Target[];
  /** Publishes the content, and starts the processes that serve it. The lab ends these. */
  setUp(lab: Lab): Promise<Case[]>;
}

/** How large contents and how long runs are: to be believed, to develop with, or to see that it works at all. */
export type Scale = 'full' | 'quick' | 'smoke';
