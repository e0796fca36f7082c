import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fromRoot } from './paths.ts';

/** A process of `antway peer` on a free port of loopback. */
export class NodePeerProcess {
  private constructor(
    readonly child: ChildProcess,
    readonly url: string,
    /** The lines of standard error so far. */
    readonly log: readonly string[],
  ) {}

  static async start(store: string, ...flags: string[]): Promise<NodePeerProcess> {
    const child = spawn(
      process.execPath,
      [fromRoot('dist-cli/antway.js'), 'peer', '--http', '127.0.0.1:0', '--store', store, ...flags],
      { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    const log: string[] = [];
    createInterface({ input: child.stderr! }).on('line', (line) => log.push(line));
    const ready = new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once('line', (line) => resolve(JSON.parse(line).http));
      child.once('exit', (code) => reject(new Error(`antway peer exited with ${code}:\n${log.join('\n')}`)));
    });
    return new NodePeerProcess(child, await ready, log);
  }

  /** Passes all later requests on to this server. */
  forwardTo(url: string): void {
    this.child.send({ forwardTo: url });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill(signal);
      await once(this.child, 'exit');
    }
  }
}
