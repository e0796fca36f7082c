import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestChain } from '../support/test-chain.ts';
import { programs } from './build.ts';
import type { Link } from './link.ts';

/** The output of `prepare`. */
export interface Prepared {
  /** Encrypted with the network's own code, in the order of the request. */
  files: { path: string; address: string }[];
  /** The pointer, and its newest record in hexadecimal digits. */
  pointer: { address: string; record: string };
  /** The bootstrap nodes of the real network, as the network's own code has them. */
  mainnet: string[];
}

/** Makes the records that nodes can store. */
export function prepareRecords(folder: string, files: readonly string[], pointTo: string): Prepared {
  const args = ['prepare', '--out', folder, '--point-to', pointTo];
  const output = execFileSync(programs.devnet, [...args, ...files.flatMap((file) => ['--file', file])]);
  return JSON.parse(output.toString());
}

/** A slow node works only for the shorter of these times, again and again. */
const slowMs = { stopped: 450, working: 50 };

/** Errors, but not that this build of a node is one for tests, which its verifier of payments takes for an error. */
const nodeLog = 'error,ant_node::payment::verifier=off';

/** The line that a node prints once it listens: multiaddresses, and a number of records. */
interface Listening {
  address: string;
  browser: string;
  records: number;
}

/** How the nodes of a network start. */
export interface DevnetOptions {
  /** A folder of {@link prepareRecords}. Every node stores all of its records. */
  records?: string;
  /** The port of the first node; 0 selects a free port. */
  port?: number;
  /** Where the nodes are. Without it, they are on loopback. */
  link?: Pick<Link, 'namespace' | 'addresses'>;
  /** The nodes that send wrong bytes, by their places. */
  lying?: readonly number[];
  /** The chain on which clients pay. */
  chain?: Pick<TestChain, 'rpc' | 'token' | 'vault'>;
}

/** A real node of the network, in a process of its own. */
class Node {
  private timer?: NodeJS.Timeout;

  private constructor(
    private readonly child: ChildProcess,
    private readonly listening: Listening,
  ) {}

  static async start(
    dataFolder: string,
    { records, port = 0, chain, lies, link }: Omit<DevnetOptions, 'lying'> & { lies: boolean },
    bootstrap: readonly string[],
  ): Promise<Node> {
    const args = ['node', '--data', dataFolder, '--port', String(port)];
    if (records !== undefined) args.push('--records', records);
    if (lies) args.push('--lies');
    if (chain) args.push('--chain', chain.rpc, chain.token, chain.vault);
    for (const address of bootstrap) args.push('--bootstrap', address);
    // The process ends with its stdin, and so with this process.
    if (link) args.push('--ip', link.addresses.other);
    const command = [...(link ? ['ip', 'netns', 'exec', link.namespace] : []), programs.devnet, ...args];
    const child = spawn(command[0]!, command.slice(1), {
      env: { RUST_LOG: nodeLog, ...process.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const line = await lines.next();
    if (line.done) throw new Error('a node of the network ended');
    return new Node(child, JSON.parse(line.value));
  }

  /** Where other nodes and native clients reach it. */
  get address(): string {
    return this.listening.address;
  }

  /** Where browsers reach it, by WebRTC Direct. */
  get browserAddress(): string {
    return this.listening.browser;
  }

  /** How many records it stores. */
  get records(): number {
    return this.listening.records;
  }

  slowDown(): void {
    const stop = () => {
      this.child.kill('SIGSTOP');
      this.timer = setTimeout(work, slowMs.stopped);
    };
    const work = () => {
      this.child.kill('SIGCONT');
      this.timer = setTimeout(stop, slowMs.working);
    };
    stop();
  }

  speedUp(): void {
    clearTimeout(this.timer);
    this.child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.speedUp();
    this.child.kill('SIGKILL');
    await ended;
  }
}

/** Kills some nodes at the same time. */
export async function killAll(nodes: readonly Node[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()));
}

/** A local network of real nodes. */
export class Devnet {
  private constructor(
    readonly nodes: readonly Node[],
    /** Whether some nodes send wrong bytes. */
    readonly hasLiars: boolean,
  ) {}

  static async start(count: number, dataFolder: string, options: DevnetOptions): Promise<Devnet> {
    const nodes: Node[] = [];
    const network = new Devnet(nodes, (options.lying?.length ?? 0) > 0);
    try {
      while (nodes.length < count) {
        const data = join(dataFolder, String(nodes.length));
        const port = (nodes.length === 0 ? options.port : undefined) ?? 0;
        const lies = options.lying?.includes(nodes.length) ?? false;
        nodes.push(await Node.start(data, { ...options, port, lies }, network.bootstrap));
      }
      return network;
    } catch (error) {
      await network.stop();
      throw error;
    }
  }

  /** The addresses of some nodes to connect to first. */
  get bootstrap(): string[] {
    return this.nodes.slice(0, 2).map(({ address }) => address);
  }

  /** How many records each node stores. */
  get records(): number {
    return Math.min(...this.nodes.map((node) => node.records));
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }
}
