import type { AntTp } from './anttp.ts';
import { type Expected, expectedOf, type LabFile } from './content.ts';
import type { LabGateway, State } from './gateway.ts';
import type { Lab } from './lab.ts';
import type { LabPage } from './lab-browser.ts';
import type { PublishedFile } from './publishing.ts';
import { type Readers, readAll, type Wanted } from './read.ts';
import type { Case } from './scenario.ts';

/** A file, or a part of it (`end` is exclusive). */
export interface Request {
  file: LabFile;
  range?: readonly [start: number, end: number];
}

/** The requests of readers. Each reader sends its requests one after the other, and all readers read at once. */
export class Reading {
  private constructor(
    private readonly plan: readonly (readonly { request: Request; expected: Expected }[])[],
  ) {}

  static async of(readers: readonly (readonly Request[])[]): Promise<Reading> {
    const known = new Map<Request, Expected>();
    for (const request of readers.flat()) {
      if (known.has(request)) continue;
      const { source } = request.file;
      known.set(request, await expectedOf(source, source.read.bind(source), request.range));
    }
    return new Reading(
      readers.map((requests) => requests.map((request) => ({ request, expected: known.get(request)! }))),
    );
  }

  /** @param urlOf where a file is found. */
  at(urlOf: (file: LabFile) => string): Readers {
    const wanted = new Map<Request, Wanted>();
    return this.plan.map((requests) =>
      requests.map(({ request, expected }) => {
        let each = wanted.get(request);
        if (!each) {
          const { file, range } = request;
          each = { ...expected, url: urlOf(file), ...(range && { range }) };
          wanted.set(request, each);
        }
        return each;
      }),
    );
  }
}

/** Splits requests among some readers, as evenly as it goes. */
export function shared<T>(requests: readonly T[], readers: number): T[][] {
  const lists: T[][] = Array.from({ length: readers }, () => []);
  for (const [i, request] of requests.entries()) lists[i % readers]!.push(request);
  return lists;
}

/** One reader that requests the same `times` times. */
export function repeated<T>(request: T, times: number): T[] {
  return Array.from({ length: times }, () => request);
}

interface Naming {
  /** The name of the case. Default: the role or the state. */
  name?: string;
  group?: string;
}

/** Reads through the gateway, in one state. */
export function gatewayCase(
  gateway: LabGateway,
  state: State,
  readers: Readers,
  { name = state, group }: Naming = {},
): Case {
  return {
    name,
    role: 'gateway',
    ...(group && { group }),
    prepare: () => gateway.enter(state, readers),
    run: () => gateway.read(state, readers, name),
  };
}

/** Reads from a worker that has everything in memory. */
export function ceilingCase(page: LabPage, readers: Readers, { name = 'ceiling', group }: Naming = {}): Case {
  return {
    name,
    role: 'ceiling',
    ...(group && { group }),
    // Its worker may have been stopped, and its memory with it.
    prepare: async () => void (await readAll(page, readers)),
    run: () => readAll(page, readers),
  };
}

/** Reads from an HTTP server. */
export function staticCase(page: LabPage, readers: Readers, { name = 'static', group }: Naming = {}): Case {
  return { name, role: 'static', ...(group && { group }), run: () => readAll(page, readers) };
}

/** Reads from AntTP, by a page of another origin, as any site may. */
export function antTpCase(
  page: LabPage,
  antTp: AntTp,
  readers: Readers,
  { name = 'anttp', group }: Naming = {},
): Case {
  return {
    name,
    role: 'anttp',
    ...(group && { group }),
    prepare: async () => {
      antTp.check();
      // Once, so that it need not decrypt anything that it would keep.
      await readAll(page, readers);
    },
    run: () => readAll(page, readers),
  };
}

/**
 * Moves the records of files by WebTransport through a worker to a page.
 *
 * @param readers what each reader moves, one after the other: a request to the peer brings `perRequest` records.
 */
export function bareCase(
  lab: Lab,
  page: LabPage,
  readers: readonly (readonly PublishedFile[])[],
  { perRequest, name = 'bare', group }: Naming & { perRequest: number },
): Case {
  const pathOf = ({ address }: PublishedFile) => `/bare/${address}`;
  const plans: Record<string, string[][]> = {};
  for (const file of readers.flat()) {
    const requests: string[][] = [];
    for (let i = 0; i < file.records.length; i += perRequest) {
      requests.push(file.records.slice(i, i + perRequest));
    }
    plans[pathOf(file)] = requests;
  }
  const wanted = readers.map((files) =>
    files.map((file): Wanted => ({ ...file.encrypted, url: pathOf(file) })),
  );
  const { webTransport, certificateHashes } = lab.peer.listening;
  return {
    name,
    role: 'bare',
    ...(group && { group }),
    prepare: () =>
      page.evaluate(
        (message) =>
          new Promise<void>((resolve) => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = () => resolve();
            navigator.serviceWorker.controller!.postMessage(message, [port2]);
          }),
        { url: webTransport!, certificateHashes, plans },
      ),
    run: () => readAll(page, wanted),
  };
}
