import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { PeerProcess } from '../support/peer-process.ts';
import { programs } from './build.ts';
import type { Item } from './content.ts';

/** The part of `/-/info` that tells about the network. */
interface NetworkInfo {
  name: string;
  state: 'connecting' | 'connected' | 'disconnected';
  peers: number;
  since: string;
  problem?: string;
}

/** Chunks that are requested at the same time, as a browser's read-ahead does. */
const parallelChunks = 4;
const retryMs = 250;
const timeoutMs = 300_000;

/** A peer that reads from the local network. */
export class NetworkPeer {
  private constructor(readonly process: PeerProcess) {}

  static async start(bootstrapFile: string, ...more: string[]): Promise<NetworkPeer> {
    const flags = ['--network', bootstrapFile, ...more];
    return new NetworkPeer(await PeerProcess.start({ build: programs.peer, flags }));
  }

  get url(): string {
    return this.process.url;
  }

  async network(): Promise<NetworkInfo> {
    const info = (await (await fetch(`${this.url}/-/info`)).json()) as { network: NetworkInfo };
    return info.network;
  }

  /** Waits until the peer reports this state. */
  async reached(state: NetworkInfo['state']): Promise<NetworkInfo> {
    const endMs = performance.now() + timeoutMs;
    for (;;) {
      const network = await this.network();
      if (network.state === state) return network;
      assert.ok(performance.now() < endMs, `the peer stays ${JSON.stringify(network)}`);
      await sleep(100);
    }
  }

  /** Asks for a record as often as the peer answers that it may have the record later. */
  async get(path: string): Promise<{ status: number; body: Uint8Array }> {
    const endMs = performance.now() + timeoutMs;
    for (;;) {
      const response = await fetch(this.url + path);
      const body = new Uint8Array(await response.arrayBuffer());
      const mayRetry = [429, 503, 504].includes(response.status);
      if (!mayRetry || performance.now() > endMs) return { status: response.status, body };
      await sleep(retryMs);
    }
  }

  /** Reads all chunks of a file or site, and compares them. Returns the number of bytes. */
  async read({ chunks }: Item, onChunk: (read: number) => void = () => undefined): Promise<number> {
    const waiting = [...chunks];
    let [read, bytes] = [0, 0];
    const worker = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [address, expected] = next;
        const { status, body } = await this.get(`/chunk/${address}`);
        assert.equal(status, 200, `${address}: ${new TextDecoder().decode(body.subarray(0, 200))}`);
        assert.ok(Buffer.from(body).equals(expected), `the bytes of chunk ${address}`);
        bytes += body.length;
        onChunk(++read);
      }
    };
    await Promise.all(Array.from({ length: parallelChunks }, worker));
    return bytes;
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}
