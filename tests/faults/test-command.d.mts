import type { FaultTest } from './faults.mjs';

/** The command of a test, which begins with the name of its runner. */
export function commandOf(test: FaultTest): string[];
