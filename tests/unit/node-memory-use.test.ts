// @module-tag isolated
import { blake3 } from '@noble/hashes/blake3.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { ChannelClient } from '../../src/nodes/channel-client.ts';
import { FrameReader, frameMessages } from '../../src/nodes/frames.ts';
import { nodeError } from '../../src/nodes/node-error.ts';
import { NodeLeader } from '../../src/nodes/node-leader.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import type { LeaderMessage } from '../../src/nodes/port-messages.ts';
import { addressOf, channelTo, honestAnswer, nodeIdentity, responseFrame } from '../support/node-server.ts';
import { noise } from '../support/publish.ts';
import { SimulatedNetwork } from '../support/simulated-nodes.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const identity = nodeIdentity(1);
const bytes = noise(1, nodeLimits.chunkBytes);
const address = Address.fromBytes(blake3(bytes));
const never = new AbortController().signal;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Arrays that a garbage collection of young objects frees. */
const small = nodeLimits.messageBytes;

/** Counts the bytes of all large byte arrays that are made from now on, apart from views. */
function countAllocations(): { bytes: number } {
  const allocated = { bytes: 0 };
  const Original = Uint8Array;
  vi.stubGlobal(
    'Uint8Array',
    new Proxy(Original, {
      construct(target, args, newTarget) {
        const made = Reflect.construct(target, args, newTarget) as Uint8Array;
        if (made.length > small && !(args[0] instanceof ArrayBuffer)) allocated.bytes += made.length;
        return made;
      },
    }),
  );
  return allocated;
}

describe('a chunk of 4 MiB from a node', () => {
  it('is put together and decrypted in one buffer', async () => {
    const clock = new VirtualClock();
    const honest = honestAnswer(identity);
    let allocated = { bytes: 0 };
    const { channel } = channelTo(identity, (request, server) => {
      if (request.type !== 'get_chunk') return honest(request, server);
      const { request_id } = request;
      const header = { request_id, status: 'ok', type: 'chunk', address: address.hex, size: bytes.length };
      const messages = [...frameMessages(server.session!.encrypt(responseFrame(header, bytes)))];
      allocated = countAllocations();
      for (const message of messages) server.sendMessage(message);
    });
    const client = await clock.run(ChannelClient.connect(channel, addressOf(identity), clock, never));
    const read = await clock.run(client.getChunk(address, { signal: never }));
    expect(allocated.bytes).toBeGreaterThanOrEqual(bytes.length);
    expect(allocated.bytes).toBeLessThan(1.5 * bytes.length);
    vi.unstubAllGlobals();
    expect(Buffer.from(read!).equals(bytes)).toBe(true);
  });

  it('is copied at most once on its way to the worker', async () => {
    const frame = new Uint8Array(bytes.length + 200);
    frame.set(bytes, 200);
    const nodes = {
      status: { connected: 1, known: 1, lookups: 0 },
      close: () => undefined,
      pointers: async () => [],
      chunk: async <T>(_: Address, { verify }: { verify(bytes: Uint8Array<ArrayBuffer>): T | Promise<T> }) =>
        verify(frame.subarray(200)),
    };
    const leader = new NodeLeader({
      nodes,
      verify: { chunk: () => undefined, pointer: () => undefined },
      signal: never,
    });
    const { port1, port2 } = new MessageChannel();
    const end = leader.serve(port1);
    const answer = new Promise<Extract<LeaderMessage, { type: 'answer' }>>((resolve) => {
      port2.onmessage = ({ data }) => data.type === 'answer' && resolve(data);
    });
    const allocated = countAllocations();
    port2.postMessage({
      type: 'request',
      id: 0,
      kind: 'chunk',
      address: address.hex,
      limit: nodeLimits.chunkBytes,
    });
    const { records } = await answer;
    expect(allocated.bytes).toBeLessThanOrEqual(bytes.length);
    vi.unstubAllGlobals();
    expect(records.map((record) => Buffer.from(record).equals(bytes))).toEqual([true]);
    end();
    port2.close();
  });

  it('is not requested from another node while it is verified', async () => {
    const clock = new VirtualClock();
    const network = new SimulatedNetwork({ nodes: 100, seed: 1, clock, shares: {} });
    const client = network.client(network.seeds(7));
    let received = 0;
    const verify = () => {
      received++;
      return clock.delay(500);
    };
    // Several nodes of the close group wait for their turn meanwhile.
    for (let read = 0; read < 30; read++) {
      await clock.run(client.chunk(network.store(new Uint8Array([read])), { verify }));
    }
    expect(received).toBe(30);
  });

  it('is requested from the next node after one that sent wrong bytes', async () => {
    const clock = new VirtualClock();
    const network = new SimulatedNetwork({ nodes: 100, seed: 1, clock, shares: {} });
    const client = network.client(network.seeds(7));
    const stored = network.store(new Uint8Array([1]));
    let verified = 0;
    const verify = async () => {
      await clock.delay(100);
      if (++verified === 1) throw nodeError('wrong-bytes', 'Wrong bytes.');
      return verified;
    };
    expect(await clock.run(client.chunk(stored, { verify }))).toBe(2);
  });
});

describe('a node that announces more than it sends', () => {
  it('gets memory for a multiple of its bytes, not for what it announces', () => {
    const reader = new FrameReader();
    reader.expect(nodeLimits.chunkBytes);
    const [first, ...rest] = frameMessages(noise(2, nodeLimits.chunkBytes));
    const allocated = countAllocations();
    reader.take(first!);
    expect(allocated.bytes).toBeLessThan(200_000);
    let received = first!.length;
    for (const message of rest.slice(0, 10)) {
      reader.take(message);
      received += message.length;
      expect(allocated.bytes).toBeLessThan(200_000 + 10 * received);
    }
  });
});
