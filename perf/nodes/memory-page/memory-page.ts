/** A page with connections to nodes, and a frame that reads through it. `memory.ts` calls it. */
import { type Address, equalBytes } from '../../../src/address.ts';
import { AntwayError } from '../../../src/errors.ts';
import { NodeLeader } from '../../../src/nodes/node-leader.ts';
import { openNodes } from '../../../src/nodes/open-nodes.ts';
import { hashInTurns } from '../../../src/self-encryption/blake3.ts';
import { redirectAnswers } from '../../../tests/browser/node-page/redirect.ts';
import type { Progress, Reading } from './reader.ts';

export interface MemoryPage {
  /**
   * Connects to the nodes of another page, and reads all chunks again and again.
   * @param reader URL of the document that reads. On another site it has a process of its own.
   */
  read(nodes: readonly string[], reading: Reading, reader: string): void;
  progress(): Progress;
}

/** Asks the page with the nodes. */
declare const acceptElsewhere: (port: number, offer: string, credential: string) => Promise<[string, number]>;

const verify = {
  async chunk({ bytes, hex }: Address, received: Uint8Array): Promise<void> {
    if (!equalBytes(await hashInTurns(received), bytes)) {
      throw new AntwayError('CORRUPT', 'The bytes are those of another address.', { address: hex });
    }
  },
  pointer: () => undefined,
};

let progress: Progress = { chunks: 0, bytes: 0, milliseconds: 0, problems: [], isDone: false };

const memoryPage: MemoryPage = {
  read(addresses, reading, url) {
    redirectAnswers(acceptElsewhere);
    const nodes = openNodes(addresses, { isLocal: true, remembers: false });
    const leader = new NodeLeader({ nodes, verify, signal: new AbortController().signal });
    const frame = document.createElement('iframe');
    const handOver = (reading?: Reading) => {
      const { port1, port2 } = new MessageChannel();
      leader.serve(port1);
      frame.contentWindow!.postMessage(reading, '*', [port2]);
    };
    addEventListener('message', ({ source, data }: MessageEvent<Progress | undefined>) => {
      if (source !== frame.contentWindow) return;
      if (data) progress = data;
      else handOver();
    });
    frame.onload = () => handOver(reading);
    frame.src = url;
    document.body.append(frame);
  },
  progress: () => progress,
};

Object.assign(globalThis, { memoryPage });
