import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fromRoot } from './paths.ts';

/** The output of a peer that is ready. */
interface Listening {
  http: string;
  webTransport: string | null;
  certificateHashes: string[];
}

export interface PeerOptions {
  /** More flags for `antway-peer serve`. */
  flags?: readonly string[];
  /** The token that writers need. If not given, the peer takes writes from its own machine. */
  token?: string;
  /** More variables of its environment. */
  env?: Readonly<Record<string, string>>;
  /** Another program that takes the flags of `serve`. */
  binary?: string;
  /** Another build of `antway-peer`. */
  build?: string;
  /** Address and port; a free port of loopback if not given. */
  http?: string;
  webTransport?: string;
  /** A folder to keep; if not given, one that goes with the peer. */
  store?: string;
}

/** A real peer process with a store of its own, on free ports of loopback. */
export class PeerProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly listening: Listening,
    private readonly store: string,
    private readonly ownsStore: boolean,
    /** The lines of its log so far. */
    readonly log: readonly string[],
  ) {}

  static async start(options: PeerOptions = {}): Promise<PeerProcess> {
    const store = options.store ?? mkdtempSync(join(tmpdir(), 'antway-peer-'));
    const child = spawn(
      options.binary ?? options.build ?? fromRoot('peer/target/release/antway-peer'),
      [
        ...(options.binary ? [] : ['serve']),
        ...(options.token === undefined ? ['--allow-open-writes'] : ['--write-token', options.token]),
        ...['--http', options.http ?? '127.0.0.1:0'],
        ...['--webtransport', options.webTransport ?? '127.0.0.1:0'],
        ...['--store', store],
        ...(options.flags ?? []),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...options.env } },
    );
    const log: string[] = [];
    createInterface({ input: child.stderr! }).on('line', (line) => log.push(line));
    const ready = new Promise<Listening>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once('line', (line) => resolve(JSON.parse(line)));
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the peer exited with ${code}:\n${log.join('\n')}`)));
    });
    return new PeerProcess(child, await ready, store, options.store === undefined, log);
  }

  get url(): string {
    return this.listening.http;
  }

  get processId(): number {
    return this.child.pid!;
  }

  /** Where its chunks are: another peer can take over once this one was killed. */
  get storeFolder(): string {
    return this.store;
  }

  async put(address: string, bytes: Uint8Array): Promise<void> {
    const response = await fetch(`${this.url}/chunk/${address}`, {
      method: 'PUT',
      body: bytes as Uint8Array<ArrayBuffer>,
    });
    if (!response.ok) throw new Error(`PUT ${address}: ${response.status} ${await response.text()}`);
  }

  /** Gives it a pointer record to serve, in place of an earlier one. */
  putPointer(address: string, record: Uint8Array): void {
    mkdirSync(join(this.store, 'pointers'), { recursive: true });
    writeFileSync(join(this.store, 'pointers', address), record);
  }

  /** Stores every chunk of a folder of fixtures, and the data map beside it if there is one. */
  async putFixture(path: string): Promise<void> {
    const folder = fromRoot(`tests/fixtures/${path}`);
    for (const name of readdirSync(join(folder, 'chunks'))) {
      await this.put(name, readFileSync(join(folder, 'chunks', name)));
    }
    if (readdirSync(folder).includes('manifest.json')) {
      const { address } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
      await this.put(address, readFileSync(join(folder, 'datamap.msgpack')));
    }
  }

  /** The sum of a counter or gauge over all its series that have these labels, from `/metrics`. */
  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith(`antway_peer_${name}{`) || line.startsWith(`antway_peer_${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** How many chunks it has given out, over both transports or over one. */
  chunksGiven(transport?: 'http' | 'webtransport'): Promise<number> {
    return this.metric('answers_total', { ...(transport && { transport }), status: 'ok' });
  }

  /** Ends the process at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGKILL');
      await once(this.child, 'exit');
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    if (this.ownsStore) rmSync(this.store, { recursive: true, force: true });
  }
}
