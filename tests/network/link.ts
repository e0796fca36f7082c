import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fromRoot } from '../support/paths.ts';

/** A network namespace whose packets arrive late. Needs root. */
export class Link {
  readonly namespace: string;
  /** The address of this end, and of the end in the namespace. */
  readonly addresses = { own: '10.77.0.2', other: '10.77.0.1' };
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  private constructor() {
    this.namespace = `antway-${process.pid}`;
    const args = [fromRoot('tests/network/link.py'), this.namespace, ...Object.values(this.addresses)];
    this.child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
  }

  static async start(): Promise<Link> {
    const link = new Link();
    assert.equal((await link.lines.next()).value, 'up', 'the link (it needs root, Linux and Python 3)');
    return link;
  }

  /** @param milliseconds from one end to the other one and back. */
  async setRoundTrip(milliseconds: number): Promise<void> {
    this.child.stdin!.write(`${milliseconds / 2}\n`);
    assert.equal((await this.lines.next()).value, 'set');
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.stdin!.end();
    await ended;
  }
}
