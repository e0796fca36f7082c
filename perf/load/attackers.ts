import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectAs, get, type Listener, readAnswer } from './proxied-socket.ts';

export interface Target extends Listener {
  /** The paths of chunks of 4 MiB. */
  large: readonly string[];
  /** The path of a large file of the hosted web app. */
  file: string;
}

/** The behaviour of one hostile connection. Resolves when the connection has ended. */
type Attack = (socket: Socket, target: Target) => Promise<void>;

const absent = () => randomBytes(32).toString('hex');

/** Before a connection that ended is replaced. More would overflow the queue of the kernel, and not reach the peer. */
const pauseMs = 4000;

/** The requests that a connection sends at once. The peer in Node ends connections that send more. */
const pipelined = 16;

/** The kinds of attacks over HTTP/1. Those over WebTransport and HTTP/2 are in peer/examples/hostile_clients/. */
export const attacks: Readonly<Record<string, Attack>> = {
  'idle connections': (socket) => ended(socket),

  async 'heads that arrive slowly'(socket) {
    for (const byte of get(`/${'x'.repeat(1000)}`)) {
      if (socket.destroyed) return;
      socket.write(byte);
      await delay(500);
    }
  },

  async 'answers that are not read'(socket, { large }) {
    socket.pause();
    socket.write(large.slice(0, pipelined).map(get).join(''));
    await ended(socket);
  },

  async 'files that are not read'(socket, { file }) {
    socket.pause();
    socket.write(get(file).repeat(pipelined));
    await ended(socket);
  },

  async 'answers that are read slowly'(socket, { large }) {
    socket.write(large.slice(0, pipelined).map(get).join(''));
    while (!socket.destroyed) {
      socket.read(1024);
      await delay(200);
    }
  },

  async 'uploads that stall'(socket) {
    socket.write(`PUT /chunk/${absent()} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4194304\r\n\r\nx`);
    await ended(socket);
  },

  async 'requests without a pause'(socket) {
    socket.resume();
    const requests = get('/-/info').repeat(1000);
    while (!socket.destroyed) {
      if (!socket.write(requests))
        await once(socket, 'drain', { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
    }
  },

  async 'heads with many fields'(socket) {
    const fields = 'Connection: a\r\n'.repeat(50_000);
    socket.resume();
    while (!socket.destroyed) {
      socket.write(`GET /-/info HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`);
      await delay(1000);
    }
  },

  'lookups of absent chunks': (socket) => repeat(socket, 100, () => `/chunk/${absent()}`),

  'lookups of absent pointers': (socket) => repeat(socket, 100, () => `/pointer/${absent()}`),

  'floods of requests': (socket) => repeat(socket, 20, () => '/-/info'),

  async 'new connections'(socket) {
    socket.write(get('/-/info'));
    await readAnswer(socket);
  },
};

/** Starts `count` connections of one kind, from so many networks. A connection that ends is replaced. Never ends. */
export async function attack(
  name: string,
  { count, networks, target }: { count: number; networks: number; target: Target },
): Promise<void> {
  const run = attacks[name]!;
  const kind = Object.keys(attacks).indexOf(name);
  const one = async (number: number) => {
    for (;;) {
      const socket = await connectAs(`203.0.${113 + kind}.${1 + (number % networks)}`, target);
      await run(socket, target);
      socket.destroy();
      await delay(pauseMs * (0.5 + Math.random()));
    }
  };
  await Promise.all(Array.from({ length: count }, (_, number) => one(number)));
}

async function repeat(socket: Socket, pause: number, path: () => string): Promise<void> {
  while (!socket.destroyed) {
    socket.write(get(path()));
    if (!(await readAnswer(socket))) return;
    await delay(pause);
  }
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    socket.once('close', () => resolve());
  });
}
