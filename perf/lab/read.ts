import type { Expected } from './content.ts';
import { sampleBytes } from './content.ts';
import type { LabPage } from './lab-browser.ts';
import type { Measured } from './scenario.ts';

/** A request of a page, and the body that must come. */
export interface Wanted extends Expected {
  /** A path of the page's origin, or a URL. */
  url: string;
  /** First byte and the one after the last. */
  range?: readonly [number, number];
}

/** The requests of each reader, one after the other. All readers of a page read at the same time. */
export type Readers = readonly (readonly Wanted[])[];

/**
 * Reads in a page. The time is from the first request to the last byte; bodies are checked after that: all of a short
 * one, samples of a long one.
 * @throws Error naming the URL of a body that is wrong, or of an answer that is none.
 */
export async function readAll(
  page: LabPage,
  readers: Readers,
): Promise<Measured & { latenciesMs: number[] }> {
  // Bodies that are asked for again and again are described once.
  const bodies: Wanted[] = [];
  const known = new Map<Wanted, number>();
  const plan = readers.map((wanted) =>
    wanted.map((each) => {
      let index = known.get(each);
      if (index === undefined) {
        index = bodies.push(each) - 1;
        known.set(each, index);
      }
      return index;
    }),
  );
  const before = await page.processorMs();
  await page.evaluate(readInPage, { bodies, plan, sampleBytes });
  const after = await page.processorMs();
  const measured = await page.evaluate(checkInPage, bodies);
  return { ...measured, processorMs: after - before };
}

/** `bytes` has all of a short body, and the samples of a long one. */
interface ReceivedBody {
  body: number;
  size: number;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The bytes that a page has read. */
interface PageReading {
  all: ReceivedBody[];
  latenciesMs: number[];
  milliseconds: number;
}

/** The global scope of the page, from one function that runs there to the other. */
type ReadingScope = typeof globalThis & { labReading?: PageReading | undefined };

/** Runs in the page: it can use nothing from outside. */
async function readInPage({
  bodies,
  plan,
  sampleBytes,
}: {
  bodies: Wanted[];
  plan: number[][];
  sampleBytes: number;
}): Promise<void> {
  const fetchOne = async (body: number): Promise<ReceivedBody> => {
    const { url, range, samples } = bodies[body]!;
    const response = await fetch(url, {
      cache: 'no-store',
      ...(range && { headers: { Range: `bytes=${range[0]}-${range[1] - 1}` } }),
    });
    if (response.status !== (range ? 206 : 200)) throw new Error(`${url}: status ${response.status}`);
    if (!samples) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { body, size: bytes.length, bytes };
    }
    const bytes = new Uint8Array(samples.length * sampleBytes);
    const reader = response.body!.getReader();
    let at = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const [i, sample] of samples.entries()) {
        const from = Math.max(sample, at);
        const to = Math.min(sample + sampleBytes, at + value.length);
        if (from < to) bytes.set(value.subarray(from - at, to - at), i * sampleBytes + from - sample);
      }
      at += value.length;
    }
    return { body, size: at, bytes };
  };

  const all: ReceivedBody[] = [];
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  await Promise.all(
    plan.map(async (wanted) => {
      for (const body of wanted) {
        const askedMs = performance.now();
        const received = await fetchOne(body);
        latenciesMs.push(performance.now() - askedMs);
        all.push(received);
      }
    }),
  );
  const milliseconds = performance.now() - startedMs;
  (globalThis as ReadingScope).labReading = { all, latenciesMs, milliseconds };
}

/** Runs in the page: it can use nothing from outside. */
async function checkInPage(bodies: Wanted[]): Promise<Measured & { latenciesMs: number[] }> {
  const scope = globalThis as ReadingScope;
  const { all, latenciesMs, milliseconds } = scope.labReading!;
  scope.labReading = undefined;
  const isEqual = (a: Uint8Array, b: Uint8Array): boolean => {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
  };

  // The first of each is hashed; the others must be the same as that.
  const firsts = new Map<number, ReceivedBody>();
  for (const received of all) {
    const { url, size, sha256 } = bodies[received.body]!;
    const first = firsts.get(received.body);
    if (first) {
      if (!isEqual(received.bytes, first.bytes)) throw new Error(`${url}: one of its bodies is another.`);
      continue;
    }
    firsts.set(received.body, received);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', received.bytes));
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
    if (received.size !== size) throw new Error(`${url}: ${received.size} bytes and not ${size}.`);
    if (hex !== sha256) throw new Error(`${url}: the bytes are wrong.`);
  }
  const bytes = all.reduce((sum, { size }) => sum + size, 0);
  return { bytes, requests: all.length, milliseconds, latenciesMs };
}
