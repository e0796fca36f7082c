import { LoopbackServer } from './loopback-server.ts';

/** Chunks by address, as a peer would be given them. */
export class ForeignChunks extends Map<string, Buffer> {
  async put(address: string, bytes: Uint8Array): Promise<void> {
    this.set(address, Buffer.from(bytes));
  }
}

export type ForeignKind = 'anttp' | 'antd';

/** A daemon of another project that serves chunks. */
export interface ForeignPeer {
  /** As a configuration names it. */
  url: string;
  /** Paths, in the order of the requests. */
  asked: string[];
}

export type StartForeignPeer = (
  kind: ForeignKind,
  chunks: ForeignChunks,
  allowsPages?: boolean,
) => Promise<ForeignPeer>;

/** A fixture for `test.extend` of Playwright as of vitest: starts foreign peers, which end with the test. */
// biome-ignore lint/correctness/noEmptyPattern: both read from the pattern what a fixture needs
export async function startForeignPeer({}, use: (start: StartForeignPeer) => Promise<void>): Promise<void> {
  const servers: LoopbackServer[] = [];
  await use(async (kind, chunks, allowsPages = true) => {
    const asked: string[] = [];
    const server = await serve(kind, chunks, allowsPages, asked);
    servers.push(server);
    return { url: `${kind}+${server.url}`, asked };
  });
  await Promise.all(servers.map((server) => server.stop()));
}

const paths = { anttp: '/anttp-0/binary/chunk/', antd: '/v1/chunks/' };

/**
 * Answers as recorded of AntTP (raw bytes) and antd (base64 in JSON).
 * @param allowsPages whether it sends the CORS header, which not every antd does.
 */
function serve(
  kind: ForeignKind,
  chunks: ForeignChunks,
  allowsPages: boolean,
  asked: string[],
): Promise<LoopbackServer> {
  return LoopbackServer.start(({ url = '' }, response) => {
    asked.push(url);
    const bytes = url.startsWith(paths[kind]) ? chunks.get(url.slice(paths[kind].length)) : undefined;
    const cors = allowsPages ? { 'Access-Control-Allow-Origin': '*' } : {};
    if (!bytes) response.writeHead(404, cors).end('{"error":"not found"}');
    else if (kind === 'anttp') response.writeHead(200, { ...cors, ETag: url }).end(bytes);
    else {
      const json = JSON.stringify({ data: bytes.toString('base64') });
      response.writeHead(200, { ...cors, 'Content-Type': 'application/json' }).end(json);
    }
  });
}
