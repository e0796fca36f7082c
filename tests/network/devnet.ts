import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programs } from './build.ts';

/** The output of the network when it is up and stores everything. */
interface Ready {
  /** Multiaddresses of nodes to begin with. */
  bootstrap: string[];
  /** Published with the network's own code, in the order in which they were asked for. */
  files: { path: string; address: string }[];
  /** How many chunks of the folder were stored. */
  chunks: number;
  /** The pointer, and its newest record in hexadecimal digits. */
  pointer: { address: string; record: string };
}

export interface DevnetContent {
  files: readonly string[];
  chunksFolder: string;
  /** The target of the pointer. */
  pointTo: string;
}

/** A local Autonomi network of real nodes, in a process of its own. */
export class Devnet {
  private constructor(
    private readonly child: ChildProcess,
    readonly ready: Ready,
  ) {}

  /** @param dataFolder for what the nodes keep. */
  static async start(nodes: number, dataFolder: string, content: DevnetContent): Promise<Devnet> {
    const args = [
      ...['--nodes', String(nodes), '--data', dataFolder],
      ...content.files.flatMap((file) => ['--file', file]),
      ...['--chunks', content.chunksFolder, '--point-to', content.pointTo],
    ];
    // It ends with its stdin, and so with this process.
    const child = spawn(programs.devnet, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ready = new Promise<Ready>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once('line', (line) => resolve(JSON.parse(line)));
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the network ended with ${code}`)));
    });
    return new Devnet(child, await ready);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.stdin!.end();
    await ended;
  }
}
