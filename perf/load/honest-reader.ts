import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../numbers.ts';
import { connectAs, get, type Listener, readAnswer } from './proxied-socket.ts';

/** The result of an honest client. */
export interface Reading {
  /** Chunks per second. */
  rate: number;
  /** The time within which 95 % of the chunks arrived. Null if none arrived. */
  p95Ms: number | null;
  failures: number;
  /** The reason of the first failure, if any. */
  firstFailure: string | null;
}

const connections = 4;
/** Between the requests of a connection, so that the client stays within the rates of its network. */
export const pauseMs = 8;
const honestClient = '198.51.100.1';
/** An answer that takes longer is a failure. */
const patienceMs = 30_000;

/** Reads chunks one after the other on each connection. An answer other than the chunk is a failure. */
export async function readByHttp(
  listener: Listener,
  paths: readonly string[],
  { seconds, chunkBytes }: { seconds: number; chunkBytes: number },
): Promise<Reading> {
  const started = performance.now();
  const isOver = () => performance.now() - started >= seconds * 1000;
  const times: number[] = [];
  let failures = 0;
  let firstFailure: string | null = null;
  const one = async (number: number) => {
    let socket = await connectAs(honestClient, listener);
    for (let n = number; !isOver(); n += connections) {
      const asked = performance.now();
      socket.write(get(paths[n % paths.length]!));
      const timer = setTimeout(() => socket.destroy(), patienceMs);
      const answer = await readAnswer(socket);
      clearTimeout(timer);
      if (answer?.status === 200 && answer.length === chunkBytes) {
        times.push(performance.now() - asked);
        await delay(pauseMs);
        continue;
      }
      failures++;
      firstFailure ??= answer ? `status ${answer.status}` : 'no answer';
      if (!answer) socket = await connectAs(honestClient, listener);
      await delay(50);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, (_, number) => one(number)));
  const rate = times.length / ((performance.now() - started) / 1000);
  return { rate, p95Ms: times.length === 0 ? null : percentile(times, 95), failures, firstFailure };
}
