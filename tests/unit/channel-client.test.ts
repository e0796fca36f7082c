// @module-tag slow
import { blake3 } from '@noble/hashes/blake3.js';
import { describe, expect, it, vi } from 'vitest';
import { Address, toHex } from '../../src/address.ts';
import { concat } from '../../src/nodes/bytes.ts';
import type { NodeChannel } from '../../src/nodes/channel.ts';
import { ChannelClient } from '../../src/nodes/channel-client.ts';
import type { StorageQuote } from '../../src/nodes/messages.ts';
import { formatNodeAddress } from '../../src/nodes/node-address.ts';
import type { NodeClient } from '../../src/nodes/node-client.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import {
  addressOf,
  channelTo,
  helloHeader,
  honestAnswer,
  type NodeAnswer,
  type NodeServer,
  nodeIdentity,
  responseFrame,
  slowDown,
} from '../support/node-server.ts';
import { noise } from '../support/publish.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const identity = nodeIdentity(1);
const bytes = noise(1, 300_000);
const address = Address.fromBytes(blake3(bytes));
const honest = honestAnswer(identity, new Map([[address.hex, bytes]]));
const never = new AbortController().signal;

/** Answers requests of a type with an attack, and others honestly. */
const instead =
  (type: string, attack: NodeAnswer): NodeAnswer =>
  (request, server) =>
    (request.type === type ? attack : honest)(request, server);

/** Stores each chunk without asking the chain. */
const storing = instead('put_chunk', ({ request_id }, server) =>
  server.respond({ request_id, status: 'ok', type: 'chunk_stored', address: address.hex }),
);

function open(
  answer: NodeAnswer,
  change: (server: NodeServer, channel: NodeChannel, clock: VirtualClock) => void = () => undefined,
) {
  const clock = new VirtualClock();
  const { channel, server, isClosed } = channelTo(identity, answer);
  change(server, channel, clock);
  const connected = ChannelClient.connect(channel, addressOf(identity), clock, never);
  connected.catch(() => undefined);
  return { clock, server, isClosed, connected };
}

/** Reads the chunk from a node whose answers to `type` are an attack. */
async function attacked(
  type: string,
  attack: NodeAnswer,
  ask: (client: NodeClient) => Promise<unknown> = (client) => client.getChunk(address, { signal: never }),
) {
  const { clock, connected, isClosed } = open(instead(type, attack));
  const result = connected.then(ask);
  const error = await clock.run(
    result.then(
      () => undefined,
      (reason) => reason,
    ),
  );
  return { error, isClosed: isClosed(), milliseconds: clock.now() };
}

const broken = { code: 'CORRUPT', details: { problem: 'protocol' } };

describe('a connection to an honest node', () => {
  it('reads a chunk, denies another, and names nodes', async () => {
    const { clock, connected } = open(honest);
    const client = await clock.run(connected);
    expect(await client.abilities(never)).toEqual({
      hasPointers: true,
      hasBatches: true,
      payment: undefined,
    });
    expect(await clock.run(client.getChunk(address, { signal: never }))).toEqual(new Uint8Array(bytes));
    const other = Address.fromBytes(new Uint8Array(32));
    expect(await clock.run(client.getChunk(other, { signal: never }))).toBeUndefined();
    const named = await clock.run(client.findNode(other.bytes, { signal: never }));
    expect(named).toEqual({ addresses: [], peerIds: new Set() });
  });

  it('has four requests at the same time, and one if the node does not say that it takes more', async () => {
    for (const [capabilities, most] of [
      [['rpc-multiplex-4'], 4],
      [[], 1],
    ] as const) {
      const held: (() => void)[] = [];
      const { clock, connected } = open((request, server) => {
        if (request.type === 'hello') {
          server.respond({ ...helloHeader(request.request_id, identity), capabilities });
        } else held.push(() => honest(request, server));
      });
      const client = await clock.run(connected);
      const reads = Array.from({ length: 6 }, () => client.getChunk(address, { signal: never }));
      await clock.pass(1_000);
      expect(held).toHaveLength(most);
      while (held.length > 0) {
        // In another order than the requests.
        held.pop()!();
        await clock.pass(100);
      }
      expect(await clock.run(Promise.all(reads))).toHaveLength(6);
    }
  });

  it('sends one request before the answer to the hello, and again if it came too early', async () => {
    for (const refuses of [false, true]) {
      const held: (() => void)[] = [];
      const { clock, connected, server } = open((request, server) => {
        const { request_id, type } = request;
        if (type === 'hello') held.push(() => honest(request, server));
        else if (held.length === 1 && refuses) {
          const code = 'authentication_required';
          held.push(() => server.respond({ request_id, status: 'error', type: 'error', code, message: '' }));
        } else honest(request, server);
      });
      const client = await clock.run(connected);
      const reads = Promise.all([1, 2].map(() => client.getChunk(address, { signal: never })));
      await clock.pass(nodeLimits.helloLeadMs - 1);
      expect(server.requests.map(({ type }) => type)).toEqual(['hello']);
      await clock.pass(1);
      expect(server.requests.map(({ type }) => type)).toEqual(['hello', 'get_chunk']);
      for (const answer of held) answer();
      expect(await clock.run(reads)).toHaveLength(2);
      expect(server.requests).toHaveLength(refuses ? 4 : 3);
      expect(new Set(server.requests.map(({ request_id }) => request_id)).size).toBe(server.requests.length);
    }
  });

  it('does not count the answer to the hello as bytes of an early request', async () => {
    let greet: () => void = () => undefined;
    let answer: () => void = () => undefined;
    const { clock, connected } = open((request, server) => {
      if (request.type === 'hello') greet = () => honest(request, server);
      else answer = () => honest(request, server);
    });
    const client = await clock.run(connected);
    let count = 0;
    const onBytes = (bytes: number) => {
      count += bytes;
    };
    const read = client.getChunk(address, { signal: never, onBytes });
    await clock.pass(nodeLimits.helloLeadMs + 10);
    greet();
    await clock.pass(10);
    expect(count).toBe(0);
    answer();
    await clock.run(read);
    expect(count).toBeGreaterThan(bytes.length);
  });

  it('does not send a chunk before the answer to the hello', async () => {
    const { clock, connected, server } = open(() => undefined);
    const client = await clock.run(connected);
    const chunk = { address, bytes: new Uint8Array(bytes), quote: {} as StorageQuote, transaction: '' };
    const stored = client.putChunk(chunk, { signal: never });
    stored.catch(() => undefined);
    await clock.pass(1_000);
    expect(server.requests.map(({ type }) => type)).toEqual(['hello']);
    client.close();
    await expect(stored).rejects.toMatchObject({ details: { problem: 'unreachable' } });
  });

  it('does not repeat an early request whose caller has left', async () => {
    const code = 'authentication_required';
    let greet: () => void = () => undefined;
    const { clock, connected, server, isClosed } = open((request, server) => {
      if (request.type === 'hello') greet = () => honest(request, server);
      else
        server.respond({ request_id: request.request_id, status: 'error', type: 'error', code, message: '' });
    });
    const client = await clock.run(connected);
    const leave = new AbortController();
    const read = client.getChunk(address, { signal: leave.signal });
    await clock.pass(nodeLimits.helloLeadMs + 10);
    leave.abort(new Error('left'));
    await expect(read).rejects.toThrow('left');
    greet();
    await clock.pass(100);
    expect(server.requests).toHaveLength(2);
    expect([isClosed(), client.isBusy]).toEqual([false, false]);
  });

  it('sends no more requests a second than nodes accept', async () => {
    const { clock, connected, server } = open(honest);
    const client = await clock.run(connected);
    const none = Address.fromBytes(new Uint8Array(32));
    const requests = Promise.all(Array.from({ length: 100 }, () => client.getChunk(none, { signal: never })));
    const start = clock.now();
    await clock.run(requests);
    const seconds = (clock.now() - start) / 1000;
    expect(server.requests).toHaveLength(101);
    expect((100 - nodeLimits.requestBurst) / seconds).toBeLessThanOrEqual(16);
  });

  it('lets a caller leave at once, and serves the next one', async () => {
    let held: (() => void) | undefined;
    const { clock, connected } = open(
      instead('get_chunk', (request, server) => {
        if (held) honest(request, server);
        else held = () => honest(request, server);
      }),
    );
    const client = await clock.run(connected);
    const abort = new AbortController();
    const read = client.getChunk(address, { signal: abort.signal });
    await clock.pass(10);
    abort.abort(new Error('left'));
    await expect(read).rejects.toThrow('left');
    expect(client.isBusy).toBe(true);
    const next = client.getChunk(address, { signal: never });
    await clock.pass(10);
    held!();
    expect(await clock.run(next)).toHaveLength(bytes.length);
    expect(client.isBusy).toBe(false);
  });

  it('sends the next chunk to store once the last one has its answer, also if its caller left', async () => {
    const quote = {} as StorageQuote;
    const transaction = 'cd'.repeat(32);
    const chunk = { address, bytes: new Uint8Array(bytes), quote, transaction };
    let answer: () => void = () => undefined;
    const { clock, server, connected } = open(
      instead('put_chunk', ({ request_id }) => {
        answer = () =>
          server.respond({ request_id, status: 'ok', type: 'chunk_stored', address: address.hex });
      }),
    );
    const client = await clock.run(connected);
    const puts = () => server.requests.filter(({ type }) => type === 'put_chunk').length;
    const leave = new AbortController();
    const left = client.putChunk(chunk, { signal: leave.signal });
    left.catch(() => undefined);
    await clock.pass(100);
    leave.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    const next = client.putChunk(chunk, { signal: never });
    await clock.pass(100);
    expect(puts()).toBe(1);
    answer();
    await clock.pass(100);
    expect(puts()).toBe(2);
    answer();
    await clock.run(next);
  });

  it('sends a chunk over a slow link, and other requests after it', async () => {
    const bytesPerMs = 20;
    const large = new Uint8Array(1_000_000);
    const { clock, connected, isClosed } = open(storing, (_, channel, clock) => {
      const { send } = channel;
      channel.send = async (message) => {
        await clock.delay(message.length / bytesPerMs);
        await send(message);
      };
    });
    const client = await clock.run(connected);
    const chunk = { address, bytes: large, quote: {} as StorageQuote, transaction: '' };
    const stored = client.putChunk(chunk, { signal: never });
    await clock.pass(1_000);
    const named = client.findNode(address.bytes, { signal: never });
    await clock.run(Promise.all([stored, named]));
    expect(clock.now()).toBeGreaterThan(large.length / bytesPerMs);
    expect(isClosed()).toBe(false);
  });

  it('gives a node its time to answer only once it has the request', async () => {
    const bytesPerMs = 6;
    const large = new Uint8Array(1_000_000);
    const { clock, connected } = open(
      instead('put_chunk', () => undefined),
      (_, channel, clock) => slowDown(channel, clock, () => bytesPerMs),
    );
    const client = await clock.run(connected);
    await clock.run(client.abilities(never));
    const chunk = { address, bytes: large, quote: {} as StorageQuote, transaction: '' };
    const start = clock.now();
    let sentMs = 0;
    const onSent = () => {
      sentMs = clock.now() - start;
    };
    const stored = client.putChunk(chunk, { signal: never, onSent });
    await expect(clock.run(stored)).rejects.toMatchObject({ details: { problem: 'timeout' } });
    expect(sentMs).toBeGreaterThanOrEqual(large.length / bytesPerMs);
    expect(clock.now() - start - sentMs).toBeGreaterThanOrEqual(nodeLimits.putMs);
  });

  it('gives a small request the time of the bytes that are before it in the browser', async () => {
    const { clock, connected, isClosed } = open(storing, (_, channel, clock) =>
      slowDown(channel, clock, () => 8),
    );
    const client = await clock.run(connected);
    await clock.run(client.abilities(never));
    const few = new Uint8Array(200_000);
    const chunk = { address, bytes: few, quote: {} as StorageQuote, transaction: '' };
    const stored = client.putChunk(chunk, { signal: never });
    const named = client.findNode(address.bytes, { signal: never });
    await clock.run(Promise.all([stored, named]));
    expect(clock.now()).toBeGreaterThan(2 * nodeLimits.stallMs);
    expect(isClosed()).toBe(false);
  });

  it.each([
    [95_000, 4.2],
    [1 << 20, 4.2],
    [1 << 20, 9],
  ])('sends a chunk of %i bytes over a link of %f bytes a millisecond', async (size, bytesPerMs) => {
    const { clock, connected, isClosed } = open(storing, (_, channel, clock) =>
      slowDown(channel, clock, () => bytesPerMs),
    );
    const client = await clock.run(connected);
    await clock.run(client.abilities(never));
    const chunk = { address, bytes: new Uint8Array(size), quote: {} as StorageQuote, transaction: '' };
    await clock.run(client.putChunk(chunk, { signal: never }));
    expect(clock.now()).toBeGreaterThan(size / bytesPerMs);
    expect(isClosed()).toBe(false);
  });

  it('gives a node the time of the bytes that a browser of before still has when it says that all have left', async () => {
    const answerMs = nodeLimits.putMs + nodeLimits.hiddenBytes / 20;
    const { clock, connected } = open((request, server) => {
      if (request.type !== 'put_chunk') return honest(request, server);
      const { request_id } = request;
      const stored = { request_id, status: 'ok', type: 'chunk_stored', address: address.hex };
      void clock.delay(answerMs).then(() => server.respond(stored));
    });
    const client = await clock.run(connected);
    const chunk = { address, bytes: new Uint8Array(4 << 20), quote: {} as StorageQuote, transaction: '' };
    await clock.run(client.putChunk(chunk, { signal: never }));
    expect(clock.now()).toBeGreaterThanOrEqual(answerMs);
  });

  it('lets a small request fail that waits long behind a chunk, and goes on with the chunk', async () => {
    const { clock, connected, isClosed } = open(storing, (_, channel, clock) =>
      slowDown(channel, clock, () => 4.3),
    );
    const client = await clock.run(connected);
    await clock.run(client.abilities(never));
    const chunk = { address, bytes: new Uint8Array(4 << 20), quote: {} as StorageQuote, transaction: '' };
    const stored = client.putChunk(chunk, { signal: never });
    await clock.pass(5_000);
    const start = clock.now();
    // More than the connection has places for.
    const named = Array.from({ length: 5 }, () => client.findNode(address.bytes, { signal: never }));
    const results = await clock.run(Promise.allSettled(named));
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { details: { problem: 'unreachable' } } });
    }
    expect(clock.now() - start).toBe(nodeLimits.behindMs);
    await clock.run(stored);
    expect(isClosed()).toBe(false);
  });

  it('sends nothing behind a part of a chunk', async () => {
    const given: number[] = [];
    const { clock, connected, isClosed } = open(honest, (_, channel, clock) => {
      slowDown(channel, clock, () => 3.2);
      const { send } = channel;
      channel.send = (message) => {
        given.push(message.length);
        return send(message);
      };
    });
    const client = await clock.run(connected);
    await clock.run(client.abilities(never));
    given.length = 0;
    const chunk = { address, bytes: new Uint8Array(4 << 20), quote: {} as StorageQuote, transaction: '' };
    const stored = client.putChunk(chunk, { signal: never });
    await clock.pass(5_000);
    const named = client.findNode(address.bytes, { signal: never });
    await clock.run(Promise.allSettled([stored, named]));
    await expect(stored).rejects.toMatchObject({ details: { problem: 'timeout' } });
    expect(isClosed()).toBe(true);
    expect(new Set(given)).toEqual(new Set([nodeLimits.messageBytes]));
  });

  it('gives up a small request that nothing takes after ten seconds', async () => {
    let bytesPerMs = 100;
    const { clock, connected, isClosed } = open(honest, (_, channel, clock) =>
      slowDown(channel, clock, () => bytesPerMs),
    );
    const client = await clock.run(connected);
    await clock.run(client.abilities(never));
    bytesPerMs = 0;
    const start = clock.now();
    const named = client.findNode(address.bytes, { signal: never });
    await expect(clock.run(named)).rejects.toMatchObject({ details: { problem: 'timeout' } });
    expect(clock.now() - start).toBeLessThan(nodeLimits.stallMs + 1_000);
    expect(isClosed()).toBe(true);
  });

  it('gives up a link that stops in the middle of a chunk, or takes almost nothing', async () => {
    for (const [rate, atMostMs] of [
      // Ten seconds, and the time of the bytes whose progress a page may not see.
      [0, 40_000],
      [2, 300_000],
    ] as const) {
      let bytesPerMs = 100;
      const { clock, connected, isClosed } = open(honest, (_, channel, clock) =>
        slowDown(channel, clock, () => bytesPerMs),
      );
      const client = await clock.run(connected);
      await clock.run(client.abilities(never));
      const chunk = { address, bytes: new Uint8Array(1 << 20), quote: {} as StorageQuote, transaction: '' };
      const stored = client.putChunk(chunk, { signal: never });
      stored.catch(() => undefined);
      await clock.pass(5_000);
      const stoppedAt = clock.now();
      bytesPerMs = rate;
      await expect(clock.run(stored)).rejects.toMatchObject({ details: { problem: 'timeout' } });
      expect(clock.now() - stoppedAt).toBeLessThanOrEqual(atMostMs);
      expect(isClosed()).toBe(true);
    }
  });

  it('gives up a link over which nothing gets through', async () => {
    let isStuck = false;
    const { clock, connected, isClosed } = open(honest, (_, channel) => {
      const { send } = channel;
      channel.send = (message) => (isStuck ? new Promise(() => undefined) : send(message));
    });
    const client = await clock.run(connected);
    isStuck = true;
    const chunk = { address, bytes: new Uint8Array(bytes), quote: {} as StorageQuote, transaction: '' };
    const stored = client.putChunk(chunk, { signal: never });
    await expect(clock.run(stored)).rejects.toMatchObject({ details: { problem: 'timeout' } });
    expect(isClosed()).toBe(true);
  });

  it('reports the code of an error, and stays open', async () => {
    const { error, isClosed } = await attacked('get_chunk', ({ request_id }, server) =>
      server.respond({ request_id, status: 'error', type: 'error', code: 'storage_error', message: '<b>' }),
    );
    expect(error).toMatchObject({ code: 'PEERS_UNREACHABLE', details: { problem: 'refused' } });
    expect(error.message).toContain('storage_error');
    expect(error.message).not.toContain('<b>');
    expect(isClosed).toBe(false);
  });
});

describe('a hostile node', () => {
  it('that is another node is refused', async () => {
    const other = nodeIdentity(2);
    const clock = new VirtualClock();
    const { channel } = channelTo(other, honestAnswer(other));
    const connected = ChannelClient.connect(channel, addressOf(identity), clock, never);
    await expect(clock.run(connected)).rejects.toMatchObject({ details: { problem: 'identity' } });
  });

  it('that claims another identity with its own key is refused', async () => {
    const { clock, connected, isClosed } = open(honest, (server) => {
      server.changeAccept = (accept) => {
        accept.set(nodeIdentity(2).publicKey, 1123);
        return accept;
      };
    });
    await expect(clock.run(connected)).rejects.toMatchObject({ details: { problem: 'identity' } });
    expect(isClosed()).toBe(true);
  });

  it('that greets with another name is refused', async () => {
    const { error } = await attacked('hello', ({ request_id }, server) =>
      server.respond(helloHeader(request_id, nodeIdentity(2))),
    );
    expect(error).toMatchObject({ details: { problem: 'identity' } });
  });

  it.each<[string, NodeAnswer]>([
    ['claims an enormous frame', (_, server) => server.sendMessage(new Uint8Array([0xff, 0xff, 0xff, 0xff]))],
    ['claims a frame of 5 MiB', (_, server) => server.sendMessage(new Uint8Array([0, 0x50, 0, 0]))],
    ['claims an empty frame', (_, server) => server.sendMessage(new Uint8Array(4))],
    ['sends an empty message', (_, server) => server.sendMessage(new Uint8Array())],
    ['sends a message of more than 16 KiB', (_, server) => server.sendMessage(new Uint8Array(16_385))],
    ['sends bytes after its frame', (_, server) => server.sendMessage(new Uint8Array([0, 0, 0, 1, 3, 3]))],
    [
      'sends a record of another session',
      (_, server) => server.sendPayload(concat(new Uint8Array([3]), new Uint8Array(60))),
    ],
    [
      'sends another kind of message',
      (_, server) => server.sendPayload(concat(new Uint8Array([9]), new Uint8Array(60))),
    ],
    [
      'leaves out a sequence number',
      ({ request_id }, server) => {
        const frame = responseFrame({ request_id, status: 'not_found', type: 'chunk_not_found' });
        server.sendPayload(server.sealAs(BigInt(server.sequence + 1), frame));
      },
    ],
    [
      'repeats a sequence number',
      ({ request_id }, server) => {
        const frame = responseFrame({ request_id, status: 'not_found', type: 'chunk_not_found' });
        server.sendPayload(server.sealAs(BigInt(server.sequence - 1), frame));
      },
    ],
    [
      'answers a request that does not exist',
      (_, server) =>
        server.respond({ request_id: 99, status: 'ok', type: 'chunk', address: address.hex, size: 0 }),
    ],
    [
      'answers with another version',
      ({ request_id }, server) =>
        server.respond({ request_id, version: 4, status: 'not_found', type: 'chunk_not_found' }),
    ],
    [
      'announces other lengths than it sends',
      ({ request_id }, server) =>
        server.respond(
          { request_id, status: 'ok', type: 'chunk', address: address.hex, size: 3, content_length: 3 },
          new Uint8Array(4),
        ),
    ],
    [
      'announces a negative length',
      ({ request_id }, server) =>
        server.respond({ request_id, status: 'ok', type: 'chunk', content_length: -1 }),
    ],
    [
      'sends a header without an end',
      (_, server) =>
        server.sendPayload(server.session!.encrypt(new TextEncoder().encode(`{"a":"${'}'.repeat(70_000)}`))),
    ],
    [
      'sends deeply nested JSON',
      (_, server) =>
        server.sendPayload(server.session!.encrypt(new TextEncoder().encode('{"a":'.repeat(13_000)))),
    ],
    [
      'sends a list as header',
      (_, server) => server.sendPayload(server.session!.encrypt(new TextEncoder().encode('[]'))),
    ],
    [
      'sends wrong UTF-8',
      (_, server) =>
        server.sendPayload(server.session!.encrypt(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))),
    ],
    [
      'sends prototype keys',
      (_, server) =>
        server.sendPayload(
          server.session!.encrypt(
            new TextEncoder().encode(
              '{"__proto__":{"version":5,"request_id":2,"status":"ok","type":"chunk","content_length":0}}',
            ),
          ),
        ),
    ],
    [
      'sends another chunk',
      ({ request_id }, server) =>
        server.respond(
          { request_id, status: 'ok', type: 'chunk', address: '00'.repeat(32), size: 1 },
          new Uint8Array(1),
        ),
    ],
    [
      'answers with nodes',
      ({ request_id }, server) =>
        server.respond({ request_id, status: 'ok', type: 'nodes', target: '', nodes: [] }),
    ],
    [
      'denies a chunk and sends bytes',
      ({ request_id }, server) =>
        server.respond({ request_id, status: 'not_found', type: 'chunk_not_found' }, new Uint8Array(1)),
    ],
  ])('that %s loses its connection', async (_, attack) => {
    const { error, isClosed } = await attacked('get_chunk', attack);
    expect(error).toMatchObject(broken);
    expect(isClosed).toBe(true);
    expect(({} as { version?: number }).version).toBeUndefined();
  });

  it('that sends data without a request loses its connection', async () => {
    const { clock, connected, server, isClosed } = open(honest);
    await clock.run(connected);
    server.sendMessage(new Uint8Array([0, 0, 0, 5, 1]));
    expect(isClosed()).toBe(true);
  });

  it('that sends its answer in tiny messages without end loses its connection', async () => {
    const { error } = await attacked('get_chunk', (_, server) => {
      server.sendMessage(new Uint8Array([0, 1, 0, 0]));
      for (let i = 0; i < 1_000; i++) server.sendMessage(new Uint8Array(1));
    });
    expect(error).toMatchObject(broken);
  });

  it('that says nothing is given up', async () => {
    const { error, milliseconds } = await attacked('get_chunk', () => undefined);
    expect(error).toMatchObject({ code: 'PEERS_UNREACHABLE', details: { problem: 'timeout' } });
    expect(milliseconds).toBeLessThanOrEqual(nodeLimits.stallMs + 1_000);
  });

  it('that drips bytes slowly is given up', async () => {
    const clock = new VirtualClock();
    const { channel, server } = channelTo(
      identity,
      instead('get_chunk', async (_, own) => {
        own.sendMessage(new Uint8Array([0, 1, 0, 0]));
        for (let i = 0; i < 100; i++) {
          await clock.delay(5_000);
          own.sendMessage(new Uint8Array(1_000));
        }
      }),
    );
    const client = await clock.run(ChannelClient.connect(channel, addressOf(identity), clock, never));
    const read = clock.run(client.getChunk(address, { signal: never }));
    await expect(read).rejects.toMatchObject({ details: { problem: 'timeout' } });
    expect(clock.now()).toBeLessThanOrEqual(20_000);
    expect(server.requests.length).toBeGreaterThan(1);
  });

  it('that answers other requests and never this one is given up', async () => {
    const clock = new VirtualClock();
    const target = new Uint8Array(32);
    const { channel } = channelTo(
      identity,
      instead('get_chunk', () => undefined),
    );
    const client = await clock.run(ChannelClient.connect(channel, addressOf(identity), clock, never));
    const read = client.getChunk(address, { signal: never });
    let isOver = false;
    read.catch(() => {
      isOver = true;
    });
    const others = async () => {
      while (!isOver) {
        await client.findNode(target, { signal: never }).catch(() => undefined);
        await clock.delay(5_000);
      }
    };
    await clock.run(others());
    await expect(read).rejects.toMatchObject({ details: { problem: 'timeout' } });
  });

  it('that closes the connection fails its requests', async () => {
    const clock = new VirtualClock();
    const { channel } = channelTo(
      identity,
      instead('get_chunk', () => channel.close()),
    );
    const client = await clock.run(ChannelClient.connect(channel, addressOf(identity), clock, never));
    const read = clock.run(client.getChunk(address, { signal: never }));
    await expect(read).rejects.toMatchObject({ details: { problem: 'unreachable' } });
    expect(client.isClosed).toBe(true);
  });

  it('does not make an aborted connect wait', async () => {
    const clock = new VirtualClock();
    const { channel, isClosed } = channelTo(identity, honest);
    channel.send = async () => undefined;
    const abort = new AbortController();
    const connected = ChannelClient.connect(channel, addressOf(identity), clock, abort.signal);
    await clock.pass(10);
    abort.abort(new Error('left'));
    await expect(clock.run(connected)).rejects.toThrow('left');
    expect(isClosed()).toBe(true);
  });
});

describe('nodes that a node names', () => {
  const target = new Uint8Array(32).fill(1);
  const named =
    (nodes: unknown, of = toHex(target)): NodeAnswer =>
    ({ request_id }, server) =>
      server.respond({ request_id, status: 'ok', type: 'nodes', target: of, nodes });
  const find = (client: NodeClient) => client.findNode(target, { signal: never });
  const entry = (seed: number) => {
    const node = addressOf(nodeIdentity(seed), '1.2.3.4');
    return { peer_id: node.peerId, webrtc_direct: { multiaddr: formatNodeAddress(node) } };
  };

  it('are left out if an entry is wrong', async () => {
    const wrong = [
      null,
      'text',
      {},
      { ...entry(3), peer_id: toHex(nodeIdentity(4).peerId) },
      { ...entry(3), peer_id: 'XY' },
      { ...entry(3), webrtc_direct: null },
      { ...entry(3), webrtc_direct: { multiaddr: '/ip4/1.2.3.4/udp/1/quic' } },
      { ...entry(3), webrtc_direct: { multiaddr: 7 } },
      JSON.parse('{"__proto__":{"peer_id":"x"}}'),
    ];
    const { clock, connected } = open(instead('find_node', named([...wrong, entry(5)])));
    const client = await clock.run(connected);
    const { addresses, peerIds } = await clock.run(find(client));
    const [third, fourth, fifth] = [3, 4, 5].map((seed) => toHex(nodeIdentity(seed).peerId));
    expect(addresses.map(({ peerId }) => peerId)).toEqual([fifth]);
    expect(peerIds, 'all names of nodes, with those that take no browsers').toEqual(
      new Set([fourth, third, fifth]),
    );
  });

  it.each<[string, NodeAnswer]>([
    ['are too many', named(Array.from({ length: 21 }, () => entry(3)))],
    ['are no list', named({ length: 3 })],
    ['are for another target', named([], '00'.repeat(32))],
  ])('end the connection if they %s', async (_, attack) => {
    const { error, isClosed } = await attacked('find_node', attack, find);
    expect(error).toMatchObject(broken);
    expect(isClosed).toBe(true);
  });
});

describe('the first byte', () => {
  it('is reported before the answer is complete', async () => {
    const clock = new VirtualClock();
    const { channel } = channelTo(
      identity,
      instead('get_chunk', async ({ request_id }, server) => {
        const header = { request_id, status: 'ok', type: 'chunk', address: address.hex, size: bytes.length };
        const record = server.session!.encrypt(responseFrame(header, bytes));
        const prefix = new Uint8Array(4);
        new DataView(prefix.buffer).setUint32(0, record.length);
        server.sendMessage(prefix);
        for (let at = 0; at < record.length; at += 16_384) {
          await clock.delay(100);
          server.sendMessage(record.slice(at, at + 16_384));
        }
      }),
    );
    const client = await clock.run(ChannelClient.connect(channel, addressOf(identity), clock, never));
    const onBytes = vi.fn((_: number) => clock.now());
    const start = clock.now();
    expect(await clock.run(client.getChunk(address, { signal: never, onBytes }))).toHaveLength(bytes.length);
    expect(onBytes.mock.results[0]!.value - start).toBeLessThan(100);
    expect(clock.now() - start).toBeGreaterThan(1_000);
  });
});
