/** The client of the nodes as a window runs it, for `nodes.test.ts` to call. */
import { blake3 } from '@noble/hashes/blake3.js';
import { Address, toHex } from '../../../src/address.ts';
import { AntwayError } from '../../../src/errors.ts';
import { formatNodeAddress } from '../../../src/nodes/node-address.ts';
import type { Nodes } from '../../../src/nodes/nodes.ts';
import { openNodes } from '../../../src/nodes/open-nodes.ts';
import { type Kind, PageNode } from './page-node.ts';
import { redirectAnswers } from './redirect.ts';

export interface ReadInPage {
  code: string;
  bytes: number;
  milliseconds: number;
  firstByteMs: number | undefined;
}

export interface NodePage {
  /** Starts one node for each kind, with chunks of these sizes. @returns the addresses of the chunks. */
  start(kinds: readonly Kind[], sizes: readonly number[]): Promise<string[]>;
  /** The addresses of the nodes of this page. */
  addresses(): string[];
  /** Lets a node of this page accept an offer of another page. @returns its socket. */
  accept(port: number, offer: string, credential: string): Promise<[string, number]>;
  /** Ends a node and its connections. */
  stop(i: number): void;
  /** Opens nodes of another page, whose `accept` is in `acceptElsewhere`. */
  openElsewhere(addresses: readonly string[]): void;
  /** @param seeds how many of the nodes are seeds. @param dead adds so many seeds where nothing listens. */
  open(seeds: number, dead?: number): void;
  /** Reads a chunk and compares its hash. */
  read(address: string): Promise<ReadInPage>;
  status(): Nodes['status'];
  /** Connections that were opened to each node. */
  connects(): number[];
  close(): void;
}

/** Asks the page with the nodes. The test exposes it. */
declare const acceptElsewhere: (port: number, offer: string, credential: string) => Promise<[string, number]>;

let nodes: PageNode[] = [];
let client: Nodes | undefined;

/** Bytes that differ for each chunk. */
function contentOf(size: number, salt: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0, state = salt + 1; i < size; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

const nodePage: NodePage = {
  async start(kinds, sizes) {
    const chunks = new Map(
      sizes.map((size, i) => {
        const bytes = contentOf(size, i);
        return [toHex(blake3(bytes)), bytes] as const;
      }),
    );
    nodes = await Promise.all(kinds.map((kind, i) => PageNode.start(1_001 + i, kind, chunks)));
    return [...chunks.keys()];
  },

  open(seeds, dead = 0) {
    const addresses = nodes.slice(0, seeds).map(({ address }) => formatNodeAddress(address));
    const silent = Array.from({ length: dead }, (_, i) =>
      formatNodeAddress({
        peerId: toHex(new Uint8Array(32).fill(i)),
        host: '127.0.0.1',
        port: 2_001 + i,
        certificateHash: new Uint8Array(32),
      }),
    );
    client = openNodes([...silent, ...addresses], { isLocal: true });
  },

  addresses: () => nodes.map(({ address }) => formatNodeAddress(address)),

  accept: (port, offer, credential) =>
    nodes.find(({ address }) => address.port === port)!.accept(offer, credential),

  stop: (i) => nodes[i]!.stop(),

  openElsewhere(addresses) {
    redirectAnswers(acceptElsewhere);
    client = openNodes(addresses, { isLocal: true });
  },

  async read(hex) {
    const address = Address.fromHex(hex);
    const start = performance.now();
    let firstByteMs: number | undefined;
    const verify = (bytes: Uint8Array) => {
      if (toHex(blake3(bytes)) !== hex) throw new AntwayError('CORRUPT', 'wrong bytes');
      return bytes.length;
    };
    const onFirstByte = () => {
      firstByteMs ??= performance.now() - start;
    };
    try {
      const bytes = await client!.chunk(address, { verify, onFirstByte });
      return { code: 'ok', bytes, milliseconds: performance.now() - start, firstByteMs };
    } catch (error) {
      const { code } = error as AntwayError;
      return { code, bytes: 0, milliseconds: performance.now() - start, firstByteMs };
    }
  },

  status: () => client!.status,
  connects: () => nodes.map(({ connects }) => connects),
  close: () => client!.close(),
};

Object.assign(globalThis, { nodePage });
