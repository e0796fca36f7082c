import { type Command, InvalidArgumentError } from 'commander';
import packageJson from '../../../package.json' with { type: 'json' };
import { AntwayError } from '../../errors.ts';
import { FolderPeerStore } from '../../node-peer/folder-store.ts';
import { NodePeer } from '../../node-peer/node-peer.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import { aborted } from '../../util/aborted.ts';
import type { CommandContext } from '../context.ts';
import { fileError } from '../disk-file.ts';
import { writePart } from '../write-output.ts';

interface PeerCommandOptions {
  /** Addresses to listen on, as `127.0.0.1:8080`, with commas. */
  http: string;
  /** The folder of the chunks. */
  store: string;
  /** The folder of the built gateway, to serve it too. */
  web?: string;
  /** The file that replaces the gateway's `antway.json`. */
  webConfig?: string;
  allowOpenWrites?: true;
  allowOrigin?: string[];
}

export function define(command: Command, { signal }: CommandContext): void {
  command
    .requiredOption('--store <folder>', 'the folder of the chunks, created if necessary')
    .option(
      '--http <addresses>',
      'the addresses of loopback to listen on, with commas; port 0 is any free port',
      '127.0.0.1:8080',
    )
    .option('--allow-open-writes', 'accept chunks from programs of this machine')
    .option(
      '--allow-origin <origins>',
      'the pages of other hosts that may use the peer, with commas, such as https://example.org; * is all',
      parseOrigins,
    )
    .option('--web <folder>', 'serve the built gateway in this folder too')
    .option('--web-config <file>', 'the gateway’s antway.json (default: the one in the folder of --web)')
    .option('--json', 'print one line of JSON when the peer listens, as it always does')
    .addHelpText(
      'after',
      '\nFor a public peer, WebTransport or the Autonomi network, use the program antway-peer.',
    )
    .action((options: PeerCommandOptions) => peerCommand(options, signal));
}

/** @throws InvalidArgumentError for a text that no browser sends as an origin. */
function parseOrigins(text: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  const wrong = origins.find(
    (origin) => origin !== '*' && !(URL.canParse(origin) && new URL(origin).origin === origin),
  );
  if (wrong === undefined) return origins;
  throw new InvalidArgumentError(
    `“${wrong}” is not * or an origin such as https://example.org, without a path.`,
  );
}

/** A message of the parent process: pass all requests on to the server at this origin; null ends that. */
interface ForwardMessage {
  forwardTo: string | null;
}

/**
 * Serves the chunks of a folder until the signal aborts or the parent process, if there is a channel to
 * it, has ended. Prints one line of JSON when it listens, like
 * `antway-peer serve`.
 * @throws AntwayError `NOT_FOUND` for a web folder without a start page, `REFUSED` if it cannot listen.
 */
async function peerCommand(options: PeerCommandOptions, signal: AbortSignal): Promise<void> {
  const parentEnded = lossOfParent();
  const blake3 = await loadBlake3();
  const store = await FolderPeerStore.open(options.store, blake3).catch((error) => {
    throw fileError(error, options.store);
  });
  const peer = await NodePeer.start({
    listen: options.http.split(','),
    store,
    blake3,
    write: options.allowOpenWrites ? 'open' : 'none',
    allowOrigins: options.allowOrigin,
    ...(options.web !== undefined && { web: { folder: options.web, config: options.webConfig } }),
    version: packageJson.version,
  }).catch((error) => {
    throw startError(error, options);
  });
  const onMessage = ({ forwardTo }: ForwardMessage) =>
    peer.forwardTo(forwardTo === null ? undefined : new URL(forwardTo));
  try {
    process.on('message', onMessage);
    // A channel to the parent process must not keep this process alive.
    process.channel?.unref();
    const listening = { event: 'listening', http: peer.url, webTransport: null, certificateHashes: [] };
    writePart(`${JSON.stringify(listening)}\n`);
    await Promise.race([aborted(signal), parentEnded]);
  } finally {
    process.off('message', onMessage);
    await peer.close();
  }
}

/** Resolves when the channel to the parent process closes. Without a channel, never. */
function lossOfParent(): Promise<void> {
  return new Promise((resolve) => {
    // If the channel has closed already, the property is false. Without a channel, it is undefined.
    if (process.connected === false) resolve();
    if (!process.connected) return;
    process.once('disconnect', resolve);
    // The channel must not keep this process alive, also not after an error.
    process.channel?.unref();
  });
}

function startError(error: unknown, { web, http }: PeerCommandOptions): AntwayError {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'listen' || error instanceof RangeError) {
    const message = `The peer cannot listen on ${http.replaceAll(',', ' and ')}: ${(error as Error).message}.`;
    return new AntwayError('REFUSED', message, { reason: code }, { cause: error });
  }
  return fileError(error, web ?? '');
}
