/** A document that reads through its parent, as the gateway's worker reads through a page. It has a process of its own. */
import { Address } from '../../../src/address.ts';
import { NodeBroker } from '../../../src/nodes/broker.ts';
import { systemClock } from '../../../src/nodes/clock.ts';

export interface Reading {
  /** The addresses of the chunks. */
  chunks: readonly string[];
  /** How often each is read. */
  times: number;
  /** As many as a film and its read-ahead ask for. */
  atOnce: number;
}

export interface Progress {
  chunks: number;
  bytes: number;
  milliseconds: number;
  /** The messages of reads that failed. They are tried again, as a reader does. */
  problems: string[];
  isDone: boolean;
}

/** So many failures end the measurement. */
const mostProblems = 200;

const { signal } = new AbortController();

/** A page whose processor is busy may be silent for too long. Then it gives another port, as a page of the shell does. */
const broker = new NodeBroker({
  clock: systemClock,
  findLeader: async () => {
    parent.postMessage(undefined, '*');
    return true;
  },
});

/** Reads as the gateway's worker does, and drops what it has read: a store would need memory of its own. */
async function read(reading: Reading): Promise<void> {
  const startedMs = performance.now();
  const progress = { chunks: 0, bytes: 0, milliseconds: 0, problems: [] as string[], isDone: false };
  const waiting = Array.from({ length: reading.times }, () => reading.chunks).flat();
  const report = () => {
    progress.milliseconds = performance.now() - startedMs;
    parent.postMessage(progress, '*');
  };
  const readOn = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      try {
        const verify = ({ length }: Uint8Array) => length;
        const bytes = await broker.fetch(Address.fromHex(next), { signal, verify });
        progress.bytes += bytes;
        progress.chunks++;
      } catch (error) {
        progress.problems.push(String(error));
        if (progress.problems.length < mostProblems) waiting.unshift(next);
      }
      report();
    }
  };
  await Promise.all(Array.from({ length: reading.atOnce }, readOn));
  progress.isDone = true;
  report();
}

addEventListener('message', ({ data, ports: [port] }: MessageEvent<Reading | undefined>) => {
  if (port) broker.connect(port);
  if (data) void read(data);
});
