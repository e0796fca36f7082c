import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseServerConfig } from '../config.ts';
import { PeerUrl } from '../peer-url.ts';
import type { OutputOptions } from './output.ts';

export interface PeerOptions {
  peer?: PeerUrl[];
  config?: string;
}

export interface WriteOptions extends PeerOptions {
  token?: string;
}

export type { OutputOptions };

/** Adds `--json` and `--quiet`. */
export function withOutput(command: Command): Command {
  return command
    .option('--json', 'print one JSON object or list')
    .option('-q, --quiet', 'print only results and errors');
}

/** Adds the options of commands that read from peers. */
export function withPeers(command: Command, what = 'a peer to ask; may be given more than once'): Command {
  return command
    .option('--peer <url>', what, collectPeer)
    .option('--config <file>', 'the file with peers and names (default: antway.json, if there is one)');
}

/** Adds the options of commands that write to peers. */
export function withWrites(command: Command): Command {
  return withPeers(
    command,
    'a peer to upload to; may be given more than once, then each gets all chunks',
  ).option('--token <token>', 'the write token of the peers (default: ANTWAY_TOKEN)');
}

/** The option of commands that read a folder. */
export function ignoreOption(): Option {
  const what = 'leave out what matches, as in a .gitignore; may be given more than once';
  return new Option('--ignore <pattern>', what).argParser(collect);
}

/** A name that `antway.json` can give to an address. @throws InvalidArgumentError */
export function nameFrom(value: string): string {
  try {
    parseServerConfig({ names: { [value]: '0'.repeat(64) } });
    return value;
  } catch {
    throw new InvalidArgumentError('A name has letters, digits, dots, dashes and underscores.');
  }
}

export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

function collectPeer(value: string, previous: PeerUrl[] = []): PeerUrl[] {
  return uniquePeers([...previous, peerFrom(value)]);
}

export function uniquePeers(peers: readonly PeerUrl[]): PeerUrl[] {
  return [...new Map(peers.map((peer) => [peer.id, peer])).values()];
}

/** @throws InvalidArgumentError for anything but the URL of a peer that Node can reach. */
export function peerFrom(value: string): PeerUrl {
  const peer = parsePeer(value);
  if (!peer) throw new InvalidArgumentError('A peer is https://host[:port], or http:// on loopback.');
  if (!isReachable(peer)) {
    throw new InvalidArgumentError(
      'Pinned certificates work in browsers only. Use the peer’s loopback HTTP.',
    );
  }
  return peer;
}

/** The origin in a URL without a path. @throws InvalidArgumentError. */
export function originFrom(value: string): string {
  const peer = parsePeer(value);
  if (peer?.kind !== 'antway' || !isReachable(peer)) {
    throw new InvalidArgumentError('It must be an origin: https://host[:port], or http:// on loopback.');
  }
  return peer.origin;
}

/** Node has no WebTransport, and its fetch() has no option to accept a pinned certificate. */
export function isReachable({ certificateHashes }: PeerUrl): boolean {
  return certificateHashes.length === 0;
}

function parsePeer(value: string): PeerUrl | undefined {
  try {
    return PeerUrl.parse(value);
  } catch {
    return undefined;
  }
}
