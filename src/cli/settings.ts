import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Address } from '../address.ts';
import { parseServerConfig } from '../config.ts';
import { AntwayError } from '../errors.ts';
import { PeerUrl } from '../peer-url.ts';
import type { ServerConfig } from '../server-config.ts';
import { fileError } from './disk-file.ts';
import { isReachable, type PeerOptions, peerFrom, uniquePeers } from './options.ts';
import { UsageError } from './usage-error.ts';

/** The origin of the peer that `npm start` and `antway serve` run, if the default port is free. */
const defaultPeer = 'http://antway.localhost:8080';
export const defaultConfigFile = 'antway.json';

/** The settings of a command. Options win over environment variables, and those over the configuration file. */
export interface CommandSettings {
  peers: PeerUrl[];
  /** Whether an option or variable names the peers. Then no other peer is asked. */
  isExplicit: boolean;
  token: string | undefined;
  names: ReadonlyMap<string, Address>;
  /** Lists of names: label → address. */
  nameLists: ReadonlyMap<string, Address>;
  /** The configuration file, if there is one. */
  file: string | undefined;
}

/**
 * Reads the options `--peer`, `--token` and `--config`, the variables `ANTWAY_PEERS`, `ANTWAY_TOKEN` and
 * `ANTWAY_CONFIG`, and the configuration file.
 * @throws AntwayError `BAD_CONFIG`, `NOT_FOUND` for a named file that does not exist; UsageError.
 */
export async function loadSettings(
  options: PeerOptions & { token?: string },
  env: NodeJS.ProcessEnv,
): Promise<CommandSettings> {
  const file = options.config ?? (env.ANTWAY_CONFIG || undefined) ?? fileHere();
  const config = file === undefined ? {} : await readConfig(file);
  const named = options.peer ?? peersOfVariable(env.ANTWAY_PEERS);
  const configured = peersOf(config);
  return {
    peers: named ?? (configured.length > 0 ? configured : [PeerUrl.parse(defaultPeer)]),
    isExplicit: named !== undefined,
    token: options.token ?? (env.ANTWAY_TOKEN || undefined),
    names: namesOf(config),
    nameLists: addressesOf(config.nameLists),
    file,
  };
}

function fileHere(): string | undefined {
  return existsSync(defaultConfigFile) ? defaultConfigFile : undefined;
}

/** @throws AntwayError `BAD_CONFIG`, or as `fileError`. */
export async function readConfig(file: string): Promise<ServerConfig> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw fileError(error, file);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AntwayError('BAD_CONFIG', `“${file}” is not JSON: ${(cause as Error).message}.`, {}, { cause });
  }
  return parseServerConfig(value, file);
}

function peersOfVariable(value: string | undefined): PeerUrl[] | undefined {
  const urls = (value ?? '').split(/[\s,]+/).filter((url) => url !== '');
  if (urls.length === 0) return undefined;
  try {
    return uniquePeers(urls.map(peerFrom));
  } catch (error) {
    throw new UsageError(`ANTWAY_PEERS is invalid: ${(error as Error).message}`);
  }
}

/**
 * The peers that a command can reach, of the configuration of a gateway.
 * @param host the origin of the gateway. Without it, the peer `/` is left out.
 */
export function peersOf({ peers = [] }: ServerConfig, host?: string): PeerUrl[] {
  const urls = peers.filter((url) => host !== undefined || url !== '/');
  return uniquePeers(urls.map((url) => PeerUrl.parse(url, host)).filter(isReachable));
}

export function namesOf({ names }: ServerConfig): Map<string, Address> {
  return addressesOf(names);
}

function addressesOf(record: Readonly<Record<string, string>> = {}): Map<string, Address> {
  return new Map(Object.entries(record).map(([name, hex]) => [name, Address.fromHex(hex)]));
}

/** The peers that accept writes. @throws UsageError if one of them is AntTP or antd. */
export function writablePeers({ peers }: CommandSettings): PeerUrl[] {
  const other = peers.find(({ kind }) => kind !== 'antway');
  if (other) throw new UsageError(`${other} cannot be written to: only Antway’s peers take chunks.`);
  return peers;
}
