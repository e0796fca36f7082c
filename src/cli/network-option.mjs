// The options of `npm start`. Plain JavaScript, see setup.mjs.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SetupError } from './setup.mjs';

/**
 * Returns the value for the peer's `--network`: `mainnet` or the full path of a file, or undefined if the peer should
 * not connect. The option wins over `ANTWAY_NETWORK`.
 * @throws SetupError for an unknown option, and for a file that does not exist.
 */
export function networkOption(args, env = process.env) {
  const value = fromArguments(args) ?? env.ANTWAY_NETWORK;
  if (!value || value === 'none') return undefined;
  if (value === 'mainnet') return value;
  // npm changes into the project's folder, and says where the user was.
  const file = resolve(env.INIT_CWD ?? '.', value);
  if (!existsSync(file)) {
    throw new SetupError(
      `There is no network “${value}”. Use “mainnet”, or a file with the addresses of bootstrap nodes.`,
    );
  }
  return file;
}

function fromArguments([option, ...rest]) {
  if (option === undefined) return undefined;
  const [name, ...value] = option.split('=');
  const values = value.length > 0 ? [value.join('='), ...rest] : rest;
  if (name !== '--network' || values.length > 1) {
    throw new SetupError(
      'npm start has one option:\n' +
        '  npm start -- --network          opens addresses of the Autonomi network\n' +
        '  npm start -- --network <file>   uses the bootstrap nodes in a file',
    );
  }
  return values[0] || 'mainnet';
}
