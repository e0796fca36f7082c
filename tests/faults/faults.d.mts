/** The builds that a fault can change. `cargo test` builds the peer. */
export type Build = 'shell' | 'cli' | 'drop-in';

export interface FaultTest {
  runner: 'playwright' | 'vitest' | 'cargo';
  file: string;
  /** A part of the test's name. */
  title: string;
  /** The file that contains the title, if that is not `file`. */
  titleIn?: string;
}

export interface Fault {
  name: string;
  /** The behaviour that is broken, in one sentence. */
  breaks: string;
  file: string;
  /** Occurs exactly once in `file`. */
  find: string;
  replace: string;
  /** The build that the test runs. Undefined if the test runs the sources. */
  build?: Build;
  /** The test of the default tier that has to fail. */
  test: FaultTest;
}

export const faults: readonly Fault[];
