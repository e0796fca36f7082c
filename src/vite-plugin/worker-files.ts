import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The only error class of the plug-in. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
  /** `@antway/sw` is not installed, or its folder has no worker. */
  readonly code = 'WORKER_MISSING';
}

const script = 'antway-sw.js';

/**
 * Finds the files that have to be beside each other on a host: the worker, its source map and its WebAssembly.
 * @param from a module of the package that needs `@antway/sw`.
 * @returns paths by the names of the files.
 * @throws PluginError
 */
export function findWorkerFiles(from: string): Map<string, string> {
  let folder: string;
  try {
    folder = dirname(createRequire(from).resolve('@antway/sw/package.json'));
  } catch (cause) {
    throw new PluginError('The package @antway/sw is not installed. Install it beside @antway/vite.', {
      cause,
    });
  }
  const names = readdirSync(folder).filter(
    (name) => name === script || name === `${script}.map` || name.endsWith('.wasm'),
  );
  if (!names.includes(script)) throw new PluginError(`${folder} has no ${script}. Install @antway/sw again.`);
  return new Map(names.map((name) => [name, join(folder, name)]));
}
