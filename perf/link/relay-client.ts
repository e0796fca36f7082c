import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fromRoot } from '../../tests/support/paths.ts';
import type { PeerProcess } from '../../tests/support/peer-process.ts';
import type { RelayPorts, RelayRequest, RelayTally } from './relay-messages.ts';

/** The ports at which a relay reaches a peer. */
export function peerPorts({ listening }: PeerProcess): RelayRequest['peers'][number] {
  const portOf = (url: string) => Number(new URL(url).port);
  return { httpPort: portOf(listening.http), webTransportPort: portOf(listening.webTransport!) };
}

/** A relay that runs in a process of its own. */
export class RelayClient {
  private constructor(
    private readonly child: ChildProcess,
    readonly ports: RelayPorts,
  ) {}

  static async start(request: RelayRequest): Promise<RelayClient> {
    const child = fork(fromRoot('perf/run.mjs'), ['link/relay-process.ts'], { stdio: 'inherit' });
    return new RelayClient(child, await ask<RelayPorts>(child, request));
  }

  tally(): Promise<RelayTally> {
    return ask(this.child, 'tally');
  }

  async stop(): Promise<void> {
    if (!this.child.connected) return;
    this.child.disconnect();
    await once(this.child, 'exit');
  }
}

async function ask<T>(child: ChildProcess, message: RelayRequest | 'tally'): Promise<T> {
  const done = new AbortController();
  const answer = once(child, 'message', done);
  const ended = once(child, 'exit', done).then(([code]) => {
    throw new Error(`The relay ended with ${code}.`);
  });
  child.send(message);
  try {
    const [value] = await Promise.race([answer, ended]);
    return value as T;
  } finally {
    for (const each of [answer, ended]) each.catch(() => undefined); // the one that is not needed any more
    done.abort();
  }
}
