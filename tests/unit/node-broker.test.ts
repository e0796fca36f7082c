import { describe, expect, it, vi } from 'vitest';
import { Address, equalBytes } from '../../src/address.ts';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { AntwayError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { NodeBroker } from '../../src/nodes/broker.ts';
import { systemClock } from '../../src/nodes/clock.ts';
import { nodeError } from '../../src/nodes/node-error.ts';
import { NodeLeader } from '../../src/nodes/node-leader.ts';
import type { Nodes, RecordReadOptions } from '../../src/nodes/nodes.ts';
import { portLimits } from '../../src/nodes/port-limits.ts';
import type { LeaderMessage, WorkerMessage } from '../../src/nodes/port-messages.ts';
import type { ChunkPeers } from '../../src/peers/chunk-peers.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { raceAbort } from '../../src/util/watchdog.ts';
import { FakePort } from '../support/fake-ports.ts';
import { Freezer } from '../support/freezer.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const address = Address.fromHex('ab'.repeat(32));
const bytes = new Uint8Array([1, 2, 3]);
const never = new AbortController().signal;

function verify(received: Uint8Array): Uint8Array {
  if (!equalBytes(received, bytes)) throw new AntwayError('CORRUPT', 'These are other bytes.');
  return received;
}
const same = (_: Address, received: Uint8Array) => void verify(received);

/** Answers each read by `script`, which gets the signal of the request. */
class ScriptedNodes {
  readonly status = { connected: 3, known: 40, lookups: 1 };
  isClosed = false;
  reads = 0;
  running = 0;
  most = 0;
  aborted = 0;
  script: (read: number, signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>;

  constructor(script: ScriptedNodes['script'] = async () => bytes.slice()) {
    this.script = script;
  }

  async chunk<T>(_: Address, { signal, onFirstByte, verify }: RecordReadOptions<T>): Promise<T> {
    this.most = Math.max(this.most, ++this.running);
    signal?.addEventListener('abort', () => this.aborted++);
    try {
      const received = await raceAbort(this.script(this.reads++, signal ?? never), signal ?? never);
      // Each node that is asked reports its own first byte.
      onFirstByte?.();
      onFirstByte?.();
      return await verify(received);
    } finally {
      this.running--;
    }
  }

  async pointers<T>(at: Address, options: RecordReadOptions<T>): Promise<T[]> {
    return [await this.chunk(at, options)];
  }

  close(): void {
    this.isClosed = true;
  }
}

const hang = () => new Promise<Uint8Array<ArrayBuffer>>(() => undefined);

function setup({ findLeader = async () => true }: { findLeader?: () => Promise<boolean> } = {}) {
  const clock = new VirtualClock();
  let searches = 0;
  const broker = new NodeBroker({
    clock,
    findLeader: () => {
      searches++;
      return findLeader();
    },
  });
  const leader = (nodes: ScriptedNodes = new ScriptedNodes()) => {
    const freezer = new Freezer();
    const lost = new AbortController();
    const served = new NodeLeader({
      nodes: nodes satisfies Pick<Nodes, 'chunk' | 'pointers' | 'status' | 'close'>,
      verify: { chunk: same, pointer: same },
      signal: lost.signal,
    });
    const [worker, page] = FakePort.pair(freezer);
    served.serve(page);
    broker.connect(worker);
    return { nodes, freezer, lost, worker, page };
  };
  /** A page of which the test itself sends the messages. */
  const rawLeader = () => {
    const [worker, page] = FakePort.pair();
    broker.connect(worker);
    return page;
  };
  return { clock, broker, leader, rawLeader, searches: () => searches };
}

const requests = ({ received }: FakePort) =>
  (received as WorkerMessage[]).filter((message) => message.type === 'request');

describe('a broker', () => {
  it('has the interface of peers', async () => {
    const { clock, broker, leader } = setup();
    leader();
    const peers: ChunkPeers = broker;
    expect(await clock.run(peers.fetch(address, { signal: never, expectedBytes: 3, verify }))).toEqual(bytes);
    const pointers = peers.pointers!(address, { signal: never, isKnown: false, verify });
    expect(await clock.run(pointers)).toEqual([bytes]);
    expect(clock.now()).toBe(0);
  });

  it('verifies chunks as the path of the peers does', async () => {
    const { clock, broker, rawLeader } = setup();
    const page = rawLeader();
    const blake3 = await loadBlake3();
    const own = Address.fromBytes(blake3(bytes));
    const ask = async (sent: Uint8Array<ArrayBuffer>, id: number) => {
      const read = broker.fetch(own, {
        signal: never,
        verify: (received) => VerifiedChunk.verify(own, received, blake3),
      });
      await Promise.resolve();
      page.postMessage({ type: 'answer', id, records: [sent.buffer] });
      return clock.run(read);
    };
    expect((await ask(bytes.slice(), 0)).bytes).toEqual(bytes);
    await expect(ask(new Uint8Array([1, 2, 4]), 1)).rejects.toMatchObject({ code: 'CORRUPT' });
  });

  it('reports the first byte once', async () => {
    const { clock, broker, leader } = setup();
    leader();
    let firsts = 0;
    await clock.run(broker.fetch(address, { signal: never, verify, onFirstByte: () => firsts++ }));
    expect(firsts).toBe(1);
  });

  it('transfers exactly the record from a larger buffer', async () => {
    const { clock, broker, leader } = setup();
    const large = new Uint8Array([9, 1, 2, 3, 9]);
    leader(new ScriptedNodes(async () => large.subarray(1, 4)));
    expect(await clock.run(broker.fetch(address, { signal: never, verify }))).toEqual(bytes);
    expect(large).toHaveLength(5);
  });

  it.each(['NOT_FOUND', 'PEERS_UNREACHABLE', 'CORRUPT'] as const)('passes the error %s on', async (code) => {
    const { clock, broker, leader } = setup();
    leader(new ScriptedNodes(() => Promise.reject(new AntwayError(code, 'No\u202e record\n<b>.'))));
    await expect(clock.run(broker.fetch(address, { signal: never, verify }))).rejects.toMatchObject({
      code,
      message: 'No record <b>.',
      details: { address: address.hex },
    });
  });

  it('returns no pointers if no node answers', async () => {
    const { clock, broker, leader } = setup();
    leader(new ScriptedNodes(() => Promise.reject(nodeError('unreachable', 'None.'))));
    expect(await clock.run(broker.pointers(address, { signal: never, isKnown: false, verify }))).toEqual([]);
  });

  it('does not wait for a long lookup of a pointer that is known', async () => {
    const { clock, broker, leader } = setup();
    const { nodes } = leader(new ScriptedNodes(hang));
    expect(await clock.run(broker.pointers(address, { signal: never, isKnown: true, verify }))).toEqual([]);
    expect(clock.now()).toBe(limits.pointerMs.answer);
    await clock.pass(1);
    expect(nodes.aborted).toBe(1);
  });

  it('drops the pointer records that do not verify', async () => {
    const { clock, broker, rawLeader } = setup();
    const page = rawLeader();
    const read = broker.pointers(address, { signal: never, isKnown: false, verify });
    await Promise.resolve();
    page.postMessage({ type: 'answer', id: 0, records: [new ArrayBuffer(3), bytes.slice().buffer] });
    expect(await clock.run(read)).toEqual([bytes]);
  });

  it('cancels the request in the page when the caller aborts', async () => {
    const { clock, broker, leader } = setup();
    const { nodes } = leader(new ScriptedNodes(hang));
    const controller = new AbortController();
    const read = broker.fetch(address, { signal: controller.signal, verify });
    await clock.pass(10);
    controller.abort(new Error('enough'));
    await expect(read).rejects.toThrow('enough');
    await clock.pass(10);
    expect(nodes).toMatchObject({ aborted: 1, running: 0 });
  });

  it('knows the status of the leader, and of none without a leader', async () => {
    const { clock, broker, leader, searches } = setup();
    expect(await clock.run(broker.status())).toBeUndefined();
    expect(searches()).toBe(1);
    const { lost } = leader();
    expect(await clock.run(broker.status())).toEqual({ connected: 3, known: 40, lookups: 1 });
    lost.abort();
    await clock.pass(1);
    expect(await clock.run(broker.status())).toBeUndefined();
  });

  it('knows no status of a leader that is frozen', async () => {
    const { clock, broker, leader } = setup();
    const { freezer } = leader();
    expect(await clock.run(broker.status())).toBeDefined();
    freezer.freeze();
    expect(await clock.run(broker.status())).toBeUndefined();
    freezer.thaw();
    await clock.pass(1);
    expect(await clock.run(broker.status())).toEqual({ connected: 3, known: 40, lookups: 1 });
  });

  it('works through the ports of the platform', async () => {
    const broker = new NodeBroker({ clock: systemClock, findLeader: async () => true });
    const lost = new AbortController();
    const { port1, port2 } = new MessageChannel();
    const nodes = new ScriptedNodes();
    new NodeLeader({ nodes, verify: { chunk: same, pointer: same }, signal: lost.signal }).serve(port1);
    broker.connect(port2);
    expect(await broker.fetch(address, { signal: never, verify })).toEqual(bytes);
    nodes.script = hang;
    const read = broker.fetch(address, { signal: never, verify });
    setTimeout(() => lost.abort(), 50);
    let end = () => {};
    setTimeout(() => {
      const { port1, port2 } = new MessageChannel();
      const next = { nodes: new ScriptedNodes(), verify: { chunk: same, pointer: same }, signal: never };
      end = new NodeLeader(next).serve(port1);
      broker.connect(port2);
    }, 100);
    expect(await read).toEqual(bytes);
    end();
  });
});

describe('a broker without a leader', () => {
  it('waits for one', async () => {
    const { clock, broker, leader, searches } = setup();
    const read = Promise.all([1, 2].map(() => broker.fetch(address, { signal: never, verify })));
    await clock.pass(1_900);
    leader();
    expect(await clock.run(read)).toEqual([bytes, bytes]);
    expect(searches()).toBe(1);
  });

  it('fails after a bounded wait, and searches again for the next request', async () => {
    const { clock, broker, searches } = setup();
    const failure = { code: 'PEERS_UNREACHABLE', details: { problem: 'no-leader' } };
    await expect(clock.run(broker.fetch(address, { signal: never, verify }))).rejects.toMatchObject(failure);
    expect(clock.now()).toBe(portLimits.leaderWaitMs);
    await expect(clock.run(broker.fetch(address, { signal: never, verify }))).rejects.toMatchObject(failure);
    expect(searches()).toBe(2);
  });

  it('fails at once if no page could have the connections', async () => {
    const { clock, broker } = setup({ findLeader: async () => false });
    await expect(clock.run(broker.fetch(address, { signal: never, verify }))).rejects.toMatchObject({
      details: { problem: 'no-page' },
    });
    expect(clock.now()).toBe(0);
  });

  it('waits even if the pages cannot be asked', async () => {
    const { clock, broker, leader } = setup({ findLeader: () => Promise.reject(new Error('no clients')) });
    const read = broker.fetch(address, { signal: never, verify });
    await clock.pass(100);
    leader();
    expect(await clock.run(read)).toEqual(bytes);
  });

  it('stops to wait when the caller aborts', async () => {
    const { clock, broker } = setup();
    const controller = new AbortController();
    const read = broker.fetch(address, { signal: controller.signal, verify });
    controller.abort(new Error('enough'));
    await expect(clock.run(read)).rejects.toThrow('enough');
    expect(clock.now()).toBe(0);
  });
});

describe('a new leader', () => {
  it('gets the requests in progress', async () => {
    const { clock, broker, leader } = setup();
    const first = leader(new ScriptedNodes(hang));
    const reads = Promise.all([1, 2, 3].map(() => broker.fetch(address, { signal: never, verify })));
    await clock.pass(100);
    const second = leader();
    expect(await clock.run(reads)).toEqual([bytes, bytes, bytes]);
    expect([first.nodes.reads, second.nodes.reads]).toEqual([3, 3]);
    expect(first.nodes).toMatchObject({ aborted: 3, running: 0 });
  });

  it('gets the requests of a leader that has lost the lock', async () => {
    const { clock, broker, leader } = setup();
    const { nodes, lost, page } = leader(new ScriptedNodes(hang));
    const read = broker.fetch(address, { signal: never, verify });
    await clock.pass(100);
    lost.abort();
    expect(nodes.isClosed).toBe(true);
    expect(page.isClosed).toBe(true);
    await clock.pass(100);
    leader();
    expect(await clock.run(read)).toEqual(bytes);
  });

  it('gets the requests of a leader that is frozen', async () => {
    const { clock, broker, leader } = setup();
    const { freezer } = leader(new ScriptedNodes(hang));
    const read = broker.fetch(address, { signal: never, verify });
    await clock.pass(10_000);
    const frozenAt = clock.now();
    freezer.freeze();
    await clock.pass(2_000);
    leader();
    expect(await clock.run(read)).toEqual(bytes);
    expect(clock.now() - frozenAt).toBe(2_000);
    freezer.thaw();
    await clock.pass(1_000);
  });

  it('is not asked a third time for a request that two leaders did not answer', async () => {
    const { clock, broker, leader } = setup();
    const first = leader(new ScriptedNodes(hang));
    const read = broker.fetch(address, { signal: never, verify });
    await clock.pass(10);
    first.lost.abort();
    await clock.pass(10);
    const second = leader(new ScriptedNodes(hang));
    await clock.pass(10);
    second.lost.abort();
    await expect(clock.run(read)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      details: { problem: 'leader-lost' },
    });
  });

  it('is asked again however often pages replace its port by another one', async () => {
    const { clock, broker, leader } = setup();
    leader(new ScriptedNodes(hang));
    const read = broker.fetch(address, { signal: never, verify });
    for (let i = 0; i < 4; i++) {
      await clock.pass(10);
      leader(new ScriptedNodes(hang));
    }
    await clock.pass(10);
    leader();
    expect(await clock.run(read)).toEqual(bytes);
  });

  it('is not asked again for requests that were answered with an error', async () => {
    const { clock, broker, leader } = setup();
    leader(new ScriptedNodes(() => Promise.reject(nodeError('unreachable', 'None.'))));
    await expect(clock.run(broker.fetch(address, { signal: never, verify }))).rejects.toThrow('None.');
    const { nodes } = leader();
    await clock.pass(10);
    expect(nodes.reads).toBe(0);
  });
});

describe('a leader that sends nonsense', () => {
  const wrong: [string, unknown][] = [
    ['no message', 'hello'],
    [
      'a record that is too large',
      { type: 'answer', id: 0, records: [new ArrayBuffer(limits.chunkBytes + 1)] },
    ],
    ['no record', { type: 'answer', id: 0, records: [] }],
    ['two records', { type: 'answer', id: 0, records: [new ArrayBuffer(3), new ArrayBuffer(3)] }],
    ['a view', { type: 'answer', id: 0, records: [bytes] }],
    ['an unknown error', { type: 'error', id: 0, code: 'toString', message: '' }],
  ];
  it.each(wrong)('%s: is given up, and the next leader is asked', async (_, message) => {
    const { clock, broker, leader, rawLeader } = setup();
    const page = rawLeader();
    const read = broker.fetch(address, { signal: never, verify });
    await Promise.resolve();
    page.postMessage(message);
    await clock.pass(10);
    expect(page.received.at(-1)).toEqual({ type: 'end' });
    leader();
    expect(await clock.run(read)).toEqual(bytes);
  });

  it('answers of unknown requests and second answers change nothing', async () => {
    const { clock, broker, rawLeader } = setup();
    const page = rawLeader();
    const answer = (id: number, ...sent: number[]) =>
      page.postMessage({ type: 'answer', id, records: [Uint8Array.from(sent).buffer] });
    const first = broker.fetch(address, { signal: never, verify });
    await Promise.resolve();
    answer(7, 6, 6, 6);
    page.postMessage({ type: 'error', id: 1, code: 'NOT_FOUND', message: '' });
    page.postMessage({ type: 'first-byte', id: 99 });
    answer(0, 1, 2, 3);
    answer(0, 6, 6, 6);
    expect(await clock.run(first)).toEqual(bytes);
    const second = broker.fetch(address, { signal: never, verify });
    await Promise.resolve();
    answer(0, 6, 6, 6);
    answer(1, 1, 2, 3);
    expect(await clock.run(second)).toEqual(bytes);
  });

  it('a long error message is cut', async () => {
    const { clock, broker, rawLeader } = setup();
    const page = rawLeader();
    const read = broker.fetch(address, { signal: never, verify });
    await Promise.resolve();
    page.postMessage({ type: 'error', id: 0, code: 'NOT_FOUND', message: 'x'.repeat(1_000_000) });
    const error: unknown = await clock.run(read).catch((reason: unknown) => reason);
    expect((error as Error).message).toHaveLength(portLimits.messageCharacters);
  });
});

describe('a leader', () => {
  it('works on a limited number of requests, and gets a limited number', async () => {
    const { clock, broker, leader } = setup();
    const { nodes, page } = leader(
      new ScriptedNodes(async () => {
        await clock.delay(100);
        return bytes.slice();
      }),
    );
    const reads = Array.from({ length: 150 }, () => broker.fetch(address, { signal: never, verify }));
    await clock.pass(1);
    expect(requests(page)).toHaveLength(portLimits.requests);
    expect(await clock.run(Promise.all(reads))).toHaveLength(150);
    expect(nodes.most).toBe(portLimits.atOncePerPort);
  });

  it('gives the place of a cancelled request to the next', async () => {
    const { clock, broker, leader } = setup();
    const { nodes } = leader(
      new ScriptedNodes((read) =>
        read < portLimits.atOncePerPort ? hang() : Promise.resolve(bytes.slice()),
      ),
    );
    const controller = new AbortController();
    const hanging = Array.from({ length: portLimits.atOncePerPort }, () =>
      broker.fetch(address, { signal: controller.signal, verify }),
    );
    const waiting = broker.fetch(address, { signal: never, verify });
    await clock.pass(10);
    expect(nodes.reads).toBe(portLimits.atOncePerPort);
    controller.abort();
    await Promise.allSettled(hanging);
    expect(await clock.run(waiting)).toEqual(bytes);
  });

  const good = { type: 'request', id: 0, kind: 'chunk', address: address.hex, limit: 100 };
  it.each<[string, unknown[]]>([
    ['nonsense', [{ type: 'request', id: 'x' }]],
    ['an id that is in use', [good, good]],
    ['too many requests', Array.from({ length: portLimits.requests + 1 }, (_, id) => ({ ...good, id }))],
  ])('closes the port of a worker that sends %s', async (_, messages) => {
    const clock = new VirtualClock();
    const [worker, page] = FakePort.pair();
    const nodes = new ScriptedNodes(hang);
    new NodeLeader({ nodes, verify: { chunk: same, pointer: same }, signal: never }).serve(page);
    for (const message of messages) worker.postMessage(message);
    await clock.pass(1);
    expect(worker.received.at(-1)).toEqual({ type: 'end' });
    expect(page.isClosed).toBe(true);
    expect(nodes).toMatchObject({ running: 0, isClosed: false });
  });

  it('ends a request to nodes that never answer, and gives its place to the next', async () => {
    const [worker, page] = FakePort.pair();
    const nodes = new ScriptedNodes(hang);
    const options = { nodes, verify: { chunk: same, pointer: same }, signal: never, requestMs: 20 };
    new NodeLeader(options).serve(page);
    const count = portLimits.atOncePerPort + 1;
    for (let id = 0; id < count; id++) worker.postMessage({ ...good, id });
    const errors = () => (worker.received as LeaderMessage[]).filter(({ type }) => type === 'error');
    await vi.waitFor(() => expect(errors()).toHaveLength(count));
    expect(errors()[0]).toEqual({
      type: 'error',
      id: 0,
      code: 'PEERS_UNREACHABLE',
      message: 'The nodes did not answer within 0.02 seconds.',
    });
    // Its id is free again.
    nodes.script = async () => bytes.slice();
    worker.postMessage({ ...good, id: 0 });
    await vi.waitFor(() => expect(worker.received.at(-1)).toMatchObject({ type: 'answer', id: 0 }));
  });

  it('refuses a record with more bytes than the worker accepts', async () => {
    const clock = new VirtualClock();
    const [worker, page] = FakePort.pair();
    const nodes = new ScriptedNodes();
    new NodeLeader({ nodes, verify: { chunk: same, pointer: same }, signal: never }).serve(page);
    worker.postMessage({ ...good, limit: 2 });
    await clock.pass(1);
    expect(worker.received.at(-1)).toMatchObject({ type: 'error', code: 'CORRUPT' });
  });

  it('serves several workers, and the end of one does not concern the others', async () => {
    const clock = new VirtualClock();
    const nodes = new ScriptedNodes();
    const served = new NodeLeader({ nodes, verify: { chunk: same, pointer: same }, signal: never });
    const ends: (() => void)[] = [];
    const brokers = [1, 2].map(() => {
      const broker = new NodeBroker({ clock, findLeader: async () => true });
      const [worker, page] = FakePort.pair();
      ends.push(served.serve(page));
      broker.connect(worker);
      return broker;
    });
    ends[0]!();
    expect(await clock.run(brokers[1]!.fetch(address, { signal: never, verify }))).toEqual(bytes);
    expect(nodes.isClosed).toBe(false);
  });

  it('has places for a worker while another one has many requests that take long', async () => {
    const clock = new VirtualClock();
    const nodes = new ScriptedNodes();
    const served = new NodeLeader({ nodes, verify: { chunk: same, pointer: same }, signal: never });
    const [busy, other] = [1, 2].map(() => {
      const broker = new NodeBroker({ clock, findLeader: async () => true });
      const [worker, page] = FakePort.pair();
      served.serve(page);
      broker.connect(worker);
      return broker;
    });
    nodes.script = hang;
    const stop = new AbortController();
    const waiting = Array.from({ length: portLimits.requests }, () =>
      busy!.fetch(address, { signal: stop.signal, verify }).catch(() => undefined),
    );
    await clock.pass(10);
    expect(nodes.running).toBe(portLimits.atOncePerPort);
    nodes.script = async () => bytes.slice();
    expect(await clock.run(other!.fetch(address, { signal: never, verify }))).toEqual(bytes);
    stop.abort();
    await Promise.all(waiting);
  });

  it('that has lost the lock already closes its connections and refuses ports', async () => {
    const clock = new VirtualClock();
    const nodes = new ScriptedNodes();
    const served = new NodeLeader({
      nodes,
      verify: { chunk: same, pointer: same },
      signal: AbortSignal.abort(),
    });
    const [worker, page] = FakePort.pair();
    served.serve(page);
    await clock.pass(1);
    expect(worker.received).toEqual([{ type: 'end' }]);
    expect(nodes.isClosed).toBe(true);
  });
});
