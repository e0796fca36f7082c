// The options of `npm start`. Plain JavaScript, see setup.mjs.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError } from './setup.mjs';

const help = `npm start has two options:
  npm start -- --network          opens addresses of the Autonomi network
  npm start -- --network <file>   uses the bootstrap nodes in a file
  npm start -- --peer node        needs no Rust, and has no WebTransport
  npm start -- --peer rust        waits until the peer in Rust is built, also if a package has one`;

/**
 * Returns the value for the peer's `--network` (`mainnet`, the full path of a file, or undefined) and the wanted peer
 * (`node`, `rust`, or undefined for the best one that exists). `--network` wins over `ANTWAY_NETWORK`.
 * @throws SetupError for an unknown option or value, and for a file that does not exist.
 */
export function startOptions(args, env = process.env) {
  const { network, peer } = parse(args);
  const options = {
    network: networkOf(network ?? env.ANTWAY_NETWORK, env),
    peer,
  };
  if (options.peer !== undefined && !['node', 'rust'].includes(options.peer)) {
    throw new SetupError(`There is no peer “${options.peer}”.\n${help}`);
  }
  if (options.network && options.peer === 'node') {
    throw new SetupError('The peer in Node cannot connect to the Autonomi network. Leave out --peer node.');
  }
  return options;
}

function parse(args) {
  // `--network` alone means the main network. Node's parser has no optional values.
  const complete = args.flatMap((arg, i) => {
    const next = args[i + 1];
    return arg === '--network' && (next === undefined || next.startsWith('--'))
      ? ['--network=mainnet']
      : [arg];
  });
  try {
    return parseArgs({ args: complete, options: { network: { type: 'string' }, peer: { type: 'string' } } })
      .values;
  } catch (error) {
    throw new SetupError(`${error.message}\n${help}`);
  }
}

function networkOf(value, env) {
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
