import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Plugin } from 'vite';
import { findWorkerFiles } from './worker-files.ts';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * Puts the worker of `@antway/sw` and its WebAssembly into builds for browsers, and serves them in development: at `base`, so
 * that the scope of the worker has all pages. It changes no page and no module. To register the worker, call `createAntway` of
 * `@antway/page`.
 * @throws PluginError
 */
export function antway(): Plugin {
  const files = findWorkerFiles(import.meta.url);
  return {
    name: 'antway',
    async generateBundle() {
      const { name, config } = this.environment;
      // A server that renders pages has no service workers.
      if (name !== 'client') return;
      for (const [fileName, path] of files) {
        if (fileName.endsWith('.map') && !config.build.sourcemap) continue;
        this.emitFile({ type: 'asset', fileName, source: await readFile(path) });
      }
    },
    configureServer({ config, middlewares }) {
      middlewares.use((request, response, next) => {
        const url = request.url?.split('?', 1)[0] ?? '';
        const path = url.startsWith(config.base) ? files.get(url.slice(config.base.length)) : undefined;
        if (!path || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
        readFile(path).then((bytes) => {
          response.setHeader('Content-Type', types[extname(path)]!);
          response.setHeader('Content-Length', bytes.byteLength);
          response.setHeader('Cache-Control', 'no-cache');
          response.end(request.method === 'HEAD' ? undefined : bytes);
        }, next);
      });
    },
  };
}
