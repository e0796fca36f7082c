import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programs } from './build.ts';

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

/** A real node of the network, in a process of its own. */
class Node {
  private timer?: NodeJS.Timeout;

  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    readonly address: string,
  ) {}

  static async start(dataFolder: string, port: number, bootstrap: readonly string[]): Promise<Node> {
    const args = ['node', '--data', dataFolder, '--port', String(port)];
    const nodes = bootstrap.flatMap((address) => ['--bootstrap', address]);
    // The process ends with its stdin, and so with this process.
    const child = spawn(programs.devnet, [...args, ...nodes], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const { address } = await nextMessage<{ address: string }>(lines);
    return new Node(child, lines, address);
  }

  /** Stores the records of a folder. Returns their number. */
  async store(folder: string): Promise<number> {
    this.child.stdin!.write(`${folder}\n`);
    return (await nextMessage<{ records: number }>(this.lines)).records;
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

/** A local network of real nodes. */
export class Devnet {
  private constructor(readonly nodes: readonly Node[]) {}

  /** @param port of the first node; 0 selects a free port. */
  static async start(count: number, dataFolder: string, port = 0): Promise<Devnet> {
    const nodes: Node[] = [];
    const network = new Devnet(nodes);
    try {
      while (nodes.length < count) {
        const data = join(dataFolder, String(nodes.length));
        nodes.push(await Node.start(data, nodes.length === 0 ? port : 0, network.bootstrap));
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

  /** Every node stores all records. Returns their number. */
  async store(folder: string): Promise<number> {
    const stored = await Promise.all(this.nodes.map((node) => node.store(folder)));
    return Math.min(...stored);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }
}

async function nextMessage<T>(lines: AsyncIterator<string>): Promise<T> {
  const line = await lines.next();
  if (line.done) throw new Error('a node of the network ended');
  return JSON.parse(line.value);
}
