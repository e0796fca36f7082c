/** The client of the nodes as a window runs it, for `direct.ts` to call. */
import { blake3 } from '@noble/hashes/blake3.js';
import { Address, toHex } from '../../../src/address.ts';
import { newestPointer, parsePointer } from '../../../src/content/pointer.ts';
import { AntwayError } from '../../../src/errors.ts';
import type { Nodes } from '../../../src/nodes/nodes.ts';
import { openNodes } from '../../../src/nodes/open-nodes.ts';

export interface DirectRead {
  /** Of all chunks together. */
  bytes: number;
  milliseconds: number;
  /** Until the first byte of the first chunk, from the call. */
  firstByteMs: number;
  /** Until the first chunk was verified. */
  firstChunkMs: number;
}

export interface DirectPage {
  /** @param seeds the multiaddresses of some nodes. */
  open(seeds: readonly string[]): void;
  /** Reads all chunks, some at a time. It fails unless every chunk has the hash that its address is. */
  readChunks(addresses: readonly string[]): Promise<DirectRead>;
  /** How many chunks the running or last `readChunks` has. */
  read(): number;
  /** How many chunks had wrong bytes, since the page was opened. */
  lies(): number;
  /** The code of the error for an address. */
  absent(address: string): Promise<string>;
  /** The newest record of a pointer, in hexadecimal digits. */
  pointer(address: string): Promise<string | undefined>;
  status(): Nodes['status'];
}

/** As many as a page's media element and its read-ahead ask for together. */
const chunksAtOnce = 8;

let client: Nodes;
let chunksRead = 0;
let lies = 0;

const directPage: DirectPage = {
  open(seeds) {
    client = openNodes(seeds, { isLocal: true });
  },

  async readChunks(addresses) {
    const startedMs = performance.now();
    const waiting = addresses.map((hex) => Address.fromHex(hex));
    let bytes = 0;
    let [firstByteMs, firstChunkMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    chunksRead = 0;
    const onFirstByte = () => {
      firstByteMs = Math.min(firstByteMs, performance.now() - startedMs);
    };
    const readOn = async () => {
      for (let address = waiting.shift(); address; address = waiting.shift()) {
        const { hex } = address;
        const length = await client.chunk(address, {
          onFirstByte,
          verify: (chunk) => {
            if (toHex(blake3(chunk)) === hex) return chunk.length;
            lies++;
            throw new AntwayError('CORRUPT', 'wrong bytes');
          },
        });
        bytes += length;
        chunksRead++;
        firstChunkMs = Math.min(firstChunkMs, performance.now() - startedMs);
      }
    };
    await Promise.all(Array.from({ length: chunksAtOnce }, readOn));
    return { bytes, milliseconds: performance.now() - startedMs, firstByteMs, firstChunkMs };
  },

  read: () => chunksRead,

  lies: () => lies,

  async absent(hex) {
    try {
      await client.chunk(Address.fromHex(hex), { verify: () => undefined });
      return 'ok';
    } catch (error) {
      return (error as AntwayError).code;
    }
  },

  async pointer(hex) {
    const address = Address.fromHex(hex);
    const verify = (record: Uint8Array) => parsePointer(new Uint8Array(record), address);
    const newest = newestPointer(undefined, await client.pointers(address, { verify }));
    return newest && toHex(newest.record);
  },

  status: () => client.status,
};

Object.assign(globalThis, { directPage });
