import { join } from 'node:path';
import { NodePeer } from '../node-peer/node-peer.ts';
import type { PeerStore } from '../node-peer/peer-store.ts';
import type { Blake3 } from '../self-encryption/blake3.ts';
import { PeerProcess } from './peer-process.mjs';

const maxStoreBytes = '2GiB';

export interface RustFrontOptions {
  /** The binary of the peer in Rust. */
  program: string;
  /** The peer in Node that has the ports, and which passes requests on to the peer in Rust. */
  peer: NodePeer;
  listen: readonly string[];
  store: PeerStore;
  blake3: Blake3;
  version: string;
  web: { folder: string; config: string };
  /** For what the peer in Rust stores; the caller removes the folder. */
  folder: string;
  /** Called when the peer in Rust ends by itself. The peer in Node answers again. */
  onEnd(reason: string): void;
}

/**
 * A peer in Rust in front of chunks that are in this process. It adds WebTransport, on the port number of the peer in
 * Node: clients look for it on the host where they found HTTP.
 */
export class RustFront {
  private constructor(
    private readonly source: NodePeer,
    private readonly process: PeerProcess,
  ) {}

  /** @throws SetupError when the peer in Rust does not start. The peer in Node answers then as before. */
  static async start(options: RustFrontOptions): Promise<RustFront> {
    const { peer, program, listen, store, blake3, version, web, folder, onEnd } = options;
    // The port of `peer` leads to the peer in Rust, so that peer needs another way to the chunks.
    const source = await NodePeer.start({ listen: ['127.0.0.1:0'], store, blake3, write: 'none', version });
    try {
      const { port } = new URL(peer.url);
      const process = await PeerProcess.start(
        'rust',
        {
          program,
          addresses: ['127.0.0.1:0'],
          webTransport: listen.map((address) => address.replace(/\d+$/, port)),
          store: join(folder, 'rust-store'),
          web: web.folder,
          config: web.config,
          more: [
            ...['--upstream', source.url],
            ...['--max-store-bytes', maxStoreBytes],
            // The command's own lines are few.
            ...['--log-level', 'warn'],
          ],
        },
        (reason) => {
          peer.forwardTo(undefined);
          onEnd(reason);
        },
      );
      peer.forwardTo(new URL(process.url));
      return new RustFront(source, process);
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.process.stop();
    await this.source.close();
  }
}
