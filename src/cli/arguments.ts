import { type ParseArgsConfig, parseArgs } from 'node:util';
import { Address } from '../address.ts';
import { PeerUrl } from '../peer-url.ts';

/** The origin of the peer that `npm start` runs, if the default port is free. */
const defaultPeer = 'http://antway.localhost:8080';

export interface PublishArguments {
  command: 'publish';
  path: string;
  /** Each peer gets every chunk. */
  peers: PeerUrl[];
  token: string | undefined;
  /** The folder that gets the chunks instead of the peers. */
  out: string | undefined;
  /** Origin for the printed URL. */
  gateway: string | undefined;
  /** Patterns in `.gitignore` syntax: files of a folder that are not published. */
  ignore: string[];
  json: boolean;
}

export interface GetArguments {
  command: 'get';
  address: Address;
  /** The path of a member or a folder, exactly as the archive spells it. */
  path: string | undefined;
  peers: PeerUrl[];
  /** A folder with stored chunks, used instead of the peers. */
  from: string | undefined;
  /** Undefined: standard output. */
  out: string | undefined;
  json: boolean;
}

export interface VerifyArguments {
  command: 'verify';
  gateway: string;
  build: string | undefined;
  json: boolean;
}

export type Arguments =
  | PublishArguments
  | GetArguments
  | VerifyArguments
  | { command: 'help' }
  | { command: 'version' };

/** The command line is invalid. The process ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const helpOptions = {
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const;

const peerOptions = {
  ...helpOptions,
  peer: { type: 'string', multiple: true },
  out: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

/**
 * Node's parser returns strings. Other parsers turn a token or an address that consists of digits into a number.
 * @throws UsageError with a message for the user.
 */
export function parseArguments(argv: readonly string[], env: NodeJS.ProcessEnv): Arguments {
  const [command, ...rest] = argv;
  switch (command) {
    case 'publish':
      return parsePublish(rest, env);
    case 'get':
      return parseGet(rest);
    case 'verify':
      return parseVerify(rest);
    case undefined:
      throw new UsageError('A command is missing.');
    case 'help':
      return { command: 'help' };
    default: {
      const { values } = parse({ args: argv.slice(), options: helpOptions, allowPositionals: true });
      if (values.help) return { command: 'help' };
      if (values.version) return { command: 'version' };
      throw new UsageError(`There is no command “${command}”.`);
    }
  }
}

function parsePublish(args: string[], env: NodeJS.ProcessEnv): Arguments {
  const { values, positionals } = parse({
    args,
    options: {
      ...peerOptions,
      token: { type: 'string' },
      gateway: { type: 'string' },
      ignore: { type: 'string', multiple: true, default: [] },
    },
    allowPositionals: true,
  });
  if (values.help) return { command: 'help' };
  if (values.version) return { command: 'version' };
  if (values.out !== undefined && values.peer) throw new UsageError('Give --out or --peer, not both.');
  return {
    command: 'publish',
    path: only(positionals, 'a file or folder to publish'),
    peers: peersFrom(values.peer),
    token: values.token ?? (env.ANTWAY_TOKEN || undefined),
    out: values.out,
    gateway: values.gateway === undefined ? undefined : peerFrom('--gateway', values.gateway).origin,
    ignore: values.ignore,
    json: values.json,
  };
}

function parseGet(args: string[]): Arguments {
  const { values, positionals } = parse({
    args,
    options: { ...peerOptions, from: { type: 'string' } },
    allowPositionals: true,
  });
  if (values.help) return { command: 'help' };
  if (values.version) return { command: 'version' };
  if (values.from !== undefined && values.peer) throw new UsageError('Give --from or --peer, not both.');
  const target = only(positionals, 'an address');
  const slash = target.indexOf('/');
  const hex = slash < 0 ? target : target.slice(0, slash);
  if (!Address.isHex(hex))
    throw new UsageError(`“${hex}” is not a content address: it must be 64 hex digits.`);
  return {
    command: 'get',
    address: Address.fromHex(hex),
    path: slash < 0 ? undefined : target.slice(slash + 1),
    peers: peersFrom(values.peer),
    from: values.from,
    out: values.out === '-' ? undefined : values.out,
    json: values.json,
  };
}

function parseVerify(args: string[]): Arguments {
  const { values, positionals } = parse({
    args,
    options: { ...helpOptions, build: { type: 'string' }, json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (values.help) return { command: 'help' };
  if (values.version) return { command: 'version' };
  return {
    command: 'verify',
    gateway: peerFrom('the gateway', only(positionals, 'the URL of a gateway')).origin,
    build: values.build,
    json: values.json,
  };
}

function only(positionals: readonly string[], what: string): string {
  const [first, second] = positionals;
  if (first === undefined || first === '') throw new UsageError(`Name ${what}.`);
  if (second !== undefined) throw new UsageError(`Name only one: “${second}” is too much.`);
  return first;
}

function peersFrom(urls: readonly string[] = [defaultPeer]): PeerUrl[] {
  const peers = urls.map((url) => peerFrom('--peer', url));
  return [...new Map(peers.map((peer) => [peer.id, peer])).values()];
}

function peerFrom(option: string, value: string): PeerUrl {
  try {
    const peer = PeerUrl.parse(value);
    // Node has no WebTransport, and its fetch() has no option to accept a pinned certificate.
    if (peer.certificateHashes.length === 0 && peer.kind === 'antway') return peer;
  } catch {
    // The error is thrown below, with the name of the option.
  }
  throw new UsageError(`${option} “${value}” is not an origin: https://host[:port], or http:// on loopback.`);
}

function parse<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Node's parser throws only errors about the command line, and their messages are suitable for the user.
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
