// Preloaded into the command (`node --import`): kills the process after so many of the steps that change something, or
// before the first one. A step is a durable change of the journal, or a request that pays or stores. Nothing changes
// between the end of a step and the start of the next one.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const last = Number(process.env.KILL_AFTER_STEPS);
let steps = 0;

/** @template T @param {() => Promise<T>} work */
async function count(work) {
  const number = ++steps;
  if (number > last) process.kill(process.pid, 'SIGKILL');
  const result = await work();
  if (number === last) process.kill(process.pid, 'SIGKILL');
  return result;
}

const { rename, rm } = fs.promises;
const isEntry = (path) => /[/\\](record|transaction|batch|paid-batch)-[0-9a-fx]+\.json$/.test(String(path));
fs.promises.rename = (from, to) => (isEntry(to) ? count(() => rename(from, to)) : rename(from, to));
fs.promises.rm = (path, options) => (isEntry(path) ? count(() => rm(path, options)) : rm(path, options));
syncBuiltinESMExports();

const { fetch } = globalThis;
globalThis.fetch = (url, init) => {
  const changes = init?.method === 'PUT' || String(init?.body).includes('eth_sendRawTransaction');
  return changes ? count(() => fetch(url, init)) : fetch(url, init);
};
