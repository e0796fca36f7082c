// `node perf/run.mjs <module.ts> [arguments]`: runs a TypeScript module of this folder in Node, by way of Vite.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [module, ...args] = process.argv.splice(2);
process.argv.push(...args);
await runnerImport(fileURLToPath(new URL(module, import.meta.url)), { configFile: false, logLevel: 'warn' });
