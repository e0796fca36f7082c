import type * as Os from 'node:os';
import type * as Threads from 'node:worker_threads';

/**
 * The threads of Node, which has no workers as browsers have them. No `import`, because the bundlers of pages would look
 * for the module.
 */
export function nodeThreads(): typeof Threads | undefined {
  if (typeof Worker !== 'undefined' || 'postMessage' in globalThis) return undefined;
  return builtin('node:worker_threads') as typeof Threads | undefined;
}

/** How many threads run at the same time. Undefined if the platform does not tell. */
export function processors(): number | undefined {
  const { availableParallelism } = (builtin('node:os') ?? {}) as Partial<typeof Os>;
  return globalThis.navigator?.hardwareConcurrency ?? availableParallelism?.();
}

function builtin(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.(name);
}
