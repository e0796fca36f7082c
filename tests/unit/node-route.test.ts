// @module-tag slow
import '../support/fast-signatures.ts';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { Address, equalBytes } from '../../src/address.ts';
import type { Pointer } from '../../src/content/pointer.ts';
import type { PointerPeer } from '../../src/owner/move-pointer.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { freezePointer, signPointer } from '../../src/owner/sign-pointer.ts';
import { prepareBill } from '../../src/payment/bill.ts';
import type { PaymentJournal } from '../../src/payment/journal.ts';
import { nodePointerReader } from '../../src/payment/node-pointers.ts';
import { priceOf } from '../../src/payment/node-price.ts';
import { encodeCommitment, priceFrom, quoteOf } from '../../src/payment/node-quote.ts';
import { NodeRoute } from '../../src/payment/node-route.ts';
import { type PointerReader, paidPointers, pointerRecord } from '../../src/payment/paid-pointers.ts';
import type { PaymentRoute } from '../../src/payment/payment-route.ts';
import { checkOffer, checkStoredOffer, type Offer, type RecordToStore } from '../../src/payment/quotes.ts';
import { confirmStored, storePaid } from '../../src/payment/upload.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { type NodeFaults, PayingNodes } from '../support/paying-nodes.ts';
import { noise } from '../support/publish.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const chain = { chainId: 31337, token: `0x${'aa'.repeat(20)}`, vault: `0x${'bb'.repeat(20)}` };
const bytes = new Uint8Array(noise(1, 50_000));
const record: RecordToStore = { address: bytesToHex(blake3(bytes)), size: bytes.length };
const transaction = `0x${'cd'.repeat(32)}`;
const { signal } = new AbortController();

let clock: VirtualClock;
let network: PayingNodes;
let route: NodeRoute;
let journal: PaymentJournal;

beforeEach(() => open(9));

function open(count: number): void {
  clock = new VirtualClock();
  network = new PayingNodes(count, clock, chain);
  route = new NodeRoute({ nodes: network.client(), chain, clock });
  journal = memoryJournal();
}

/** The nodes, closest to the record first. */
const closest = (address = record.address) =>
  network.all.toSorted((a, b) =>
    distanceOf(a.address.peerId, address) < distanceOf(b.address.peerId, address) ? -1 : 1,
  );
const distanceOf = (peerId: string, address = record.address) =>
  BigInt(`0x${peerId}`) ^ BigInt(`0x${address}`);

/** Peer ids closer to an address than those of any other node. */
const nodesAround = (address: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${address.slice(0, 60)}${`${1000 + i}`}`);

function spoil(nodes: { faults: NodeFaults }[], faults: NodeFaults): void {
  for (const node of nodes) node.faults = faults;
}

const parts = () => ({ relays: [route], journal, signal });

async function offered(): Promise<Offer> {
  const [answer] = await clock.run(route.quotes([record], signal));
  if (answer?.status !== 'quoted') throw new Error(`It is ${answer?.status}.`);
  return answer.offer;
}

/** Notes a payment as the wallet and the chain do. */
async function paid(offer: Offer): Promise<void> {
  network.paid.add(offer.quoteHash);
  await journal.putRecord({ offer, transaction });
}

const holders = () => network.all.filter(({ stored }) => stored.has(record.address)).length;
const problem = (payment: string) =>
  expect.objectContaining({ details: expect.objectContaining({ payment }) });

describe('an upload without a relay', () => {
  it('asks for the price, and brings the chunk to the close group', async () => {
    spoil(closest().slice(0, 3), { committed: 3 });
    await clock.run(route.check(chain, signal));
    const bill = await clock.run(prepareBill([record], parts()));
    expect(bill).toMatchObject({ records: 1, stored: 0, paid: 0, dueRecords: 1 });
    const [offer] = bill.due.offers;
    expect(offer!.plan.quotes.map(({ peer }) => peer).toSorted()).toEqual(
      closest()
        .slice(0, 7)
        .map(({ address }) => address.peerId)
        .toSorted(),
    );
    await paid(offer!);
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
    expect(closest().map(({ stored }) => stored.has(record.address))).toEqual(
      network.all.map((_, i) => i < 7),
    );
    expect(closest()[0]!.stored.get(record.address)).toEqual(new Uint8Array(bytes));
    await clock.run(confirmStored([record], parts()));
    const again = await clock.run(prepareBill([record], parts()));
    expect(again).toMatchObject({ stored: 1, amount: 0n });
  });

  it('sends all nodes the quote that was paid, with its commitment', async () => {
    spoil(network.all, { committed: 200 });
    const offer = await offered();
    await paid(offer);
    await clock.run(storePaid(record, bytes, parts()));
    const received = network.all.flatMap((node) => node.received);
    expect(received).toHaveLength(7);
    for (const quote of received) {
      expect(`0x${quote.quote_hash}`).toBe(offer.quoteHash);
      expect(quote.commitment?.key_count).toBe(200);
    }
  });

  it('needs four nodes that store the chunk', async () => {
    open(7);
    const offer = await offered();
    await paid(offer);
    spoil(closest().slice(0, 3), { putCode: 'put_failed' });
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
    expect(holders()).toBe(4);
  });

  it('uses the next nodes in place of dead ones', async () => {
    spoil(closest().slice(0, 2), { isDead: true });
    await paid(await offered());
    await clock.run(storePaid(record, bytes, parts()));
    expect(holders()).toBe(7);
  });

  it('sends the chunk to no node that would refuse it', async () => {
    const offer = await offered();
    await paid(offer);
    const [first, second] = closest();
    spoil([first!], { unknown: [first!.address.peerId] });
    spoil([second!], { unknown: [offer.plan.quotes[3]!.peer] });
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
    expect([first!.received, second!.received]).toEqual([[], []]);
    expect(holders()).toBe(7);
  });

  describe('of a large chunk', () => {
    let large: Uint8Array<ArrayBuffer>;
    let chunk: RecordToStore;
    const receivers = () => network.all.filter(({ received }) => received.length > 0).length;

    async function payFor(size: number): Promise<void> {
      large = new Uint8Array(noise(3, size));
      chunk = { address: bytesToHex(blake3(large)), size };
      const [answer] = await clock.run(route.quotes([chunk], signal));
      if (answer?.status !== 'quoted') throw new Error('It has no price.');
      await paid(answer.offer);
    }

    it('sends it to no further nodes because the link is slow', { tags: 'full' }, async () => {
      await payFor(4 << 20);
      spoil(network.all, { bytesPerMs: 40, putMs: 12_000 });
      expect(await clock.run(storePaid(chunk, large, parts()))).toBe('stored');
      // Those that were not needed get it nevertheless: it is on its way.
      await clock.pass(300_000);
      expect(receivers()).toBe(7);
    });

    it('ends although the link is very slow', { tags: 'full' }, async () => {
      await payFor(4 << 20);
      spoil(network.all, { bytesPerMs: 6 });
      expect(await clock.run(storePaid(chunk, large, parts()))).toBe('stored');
      expect(clock.now()).toBeGreaterThan(large.length / 6);
    });

    const silent: [string, NodeFaults, number][] = [
      // 10 s, and the time of the bytes whose progress a page may not see.
      ['to which nothing gets through', { bytesPerMs: 0 }, 45_000],
      ['that has it and does not answer', { putMs: 3_600_000 }, 30_000],
    ];
    it.each(silent)('sends it soon to another node in place of one %s', { tags: 'full' }, replaceSilent);
    it.each(silent)('sends one of a megabyte soon to another node in place of one %s', (_, ...rest) =>
      replaceSilent(_, ...rest, 1 << 20),
    );

    async function replaceSilent(
      _: string,
      faults: NodeFaults,
      atMostMs: number,
      size = 4 << 20,
    ): Promise<void> {
      await payFor(size);
      spoil(closest(chunk.address).slice(0, 4), faults);
      const start = clock.now();
      expect(await clock.run(storePaid(chunk, large, parts()))).toBe('stored');
      expect(clock.now() - start).toBeLessThan(atMostMs);
    }
  });

  it('asks for prices only at nodes that are among the twenty closest, with those that take no browsers', async () => {
    network.others = nodesAround(record.address, 13);
    const offer = await offered();
    await paid(offer);
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
    expect(holders()).toBe(7);
  });

  it('stops when it is aborted', async () => {
    const stop = new AbortController();
    const asking = route.quotes([record], stop.signal);
    stop.abort(new DOMException('Stopped.', 'AbortError'));
    await expect(clock.run(asking)).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a node that lies', () => {
  const other = 'ef'.repeat(32);
  const lies: [string, NodeFaults][] = [
    ['about the rule of prices', { quote: (quote) => ({ ...quote, price: '1' }) }],
    ['about its price after it signed', { quote: (quote) => ({ ...quote, committed_key_count: 5 }) }],
    ['about the account', { quote: (quote) => ({ ...quote, rewards_address: `0x${'66'.repeat(20)}` }) }],
    ['about its name', { quote: (quote) => ({ ...quote, peer_id: other }) }],
    ['about the chunk', { quote: (quote) => ({ ...quote, content: other }) }],
    ['about the chunk of the answer', { address: other }],
    [
      'with the key of another node',
      { quote: (quote) => ({ ...quote, public_key: bytesToHex(network.all[8]!.publicKey) }) },
    ],
    [
      'about its records',
      {
        committed: 5,
        quote: (quote) => ({ ...quote, commitment: { ...quote.commitment!, root: '01'.repeat(32) } }),
      },
    ],
    ['without its commitment', { committed: 5, quote: (quote) => ({ ...quote, commitment: null }) }],
    [
      'about the year',
      {
        quote: (_, node) => quoteOf(network.price(node, record.address, 253_402_300_800), record.address),
      },
    ],
    ['about the chain', { payment: { chain_id: 1 } }],
    ['about the vault', { payment: { payment_vault_address: `0x${'cc'.repeat(20)}` } }],
  ];

  it.each(lies)('%s is not in the plan', async (_, faults) => {
    const [liar] = closest();
    liar!.faults = faults;
    const { plan } = await offered();
    expect(plan.quotes).toHaveLength(7);
    expect(plan.quotes.map(({ peer }) => peer)).not.toContain(liar!.address.peerId);
  });

  async function expectNoPrice(faults: NodeFaults): Promise<void> {
    spoil(closest().slice(0, 3), faults);
    await expect(offered()).rejects.toEqual(problem('SHORTFALL'));
  }

  it.each(lies.slice(0, 2))('%s with two others leaves too few nodes for a price', (_, faults) =>
    expectNoPrice(faults),
  );
  it.each(lies.slice(2))(
    '%s with two others leaves too few nodes for a price',
    { tags: 'full' },
    (_, faults) => expectNoPrice(faults),
  );

  it('that it has the chunk, with fewer than three others, does not count as a majority', async () => {
    spoil(closest().slice(0, 3), { claims: true });
    expect((await offered()).plan.quotes).toHaveLength(7);
  });
});

describe('one computer with many keys', () => {
  const host = '8.8.4.4';
  /** The closest nodes, which are all there. */
  const crowd = () => closest().slice(0, 6);
  const inCrowd = (peer: string) => crowd().some(({ address }) => address.peerId === peer);

  beforeEach(() => {
    open(11);
    for (const node of crowd()) node.address = { ...node.address, host };
    route = new NodeRoute({ nodes: network.client(), chain, clock });
  });

  it('does not decide the price', async () => {
    spoil(crowd(), { committed: 16_000 });
    const { plan, amount } = await offered();
    expect(plan.quotes).toHaveLength(7);
    expect(plan.quotes.filter(({ peer }) => inCrowd(peer))).toHaveLength(3);
    expect(amount).toBe(`${3n * priceOf(0)}`);
  });

  it('does not decide that the network has a chunk', async () => {
    spoil(crowd(), { claims: true });
    expect((await offered()).plan.quotes).toHaveLength(7);
  });

  it('does not decide that a chunk was stored', async () => {
    await paid(await offered());
    spoil(crowd(), { forgets: true });
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
    expect(holders()).toBe(4);
  });
});

describe('a payment stays in the journal', () => {
  it('if nodes take it and do not store', async () => {
    await paid(await offered());
    spoil(network.all, { forgets: true });
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
    await expect(clock.run(confirmStored([record], parts()))).rejects.toEqual(problem('NOT_STORED'));
    spoil(network.all, {});
    const bill = await clock.run(prepareBill([record], parts()));
    expect(bill).toMatchObject({ paid: 1, amount: 0n });
    await clock.run(storePaid(record, bytes, parts()));
    await clock.run(confirmStored([record], parts()));
    expect(holders()).toBe(7);
  });

  it('if too few nodes store', async () => {
    await paid(await offered());
    spoil(closest().slice(0, 6), { putCode: 'storage_error' });
    await expect(clock.run(storePaid(record, bytes, parts()))).rejects.toEqual(problem('SHORTFALL'));
    expect(await journal.record(record.address)).toMatchObject({ transaction });
  });

  it('if the nodes do not see it yet', async () => {
    const offer = await offered();
    await journal.putRecord({ offer, transaction });
    await expect(clock.run(storePaid(record, bytes, parts()))).rejects.toEqual(problem('UNPAID'));
    const storing = storePaid(record, bytes, parts());
    await clock.pass(500);
    network.paid.add(offer.quoteHash);
    expect(await clock.run(storing)).toBe('stored');
  });

  it('if the nodes do not know the paid node as one of the closest any more', async () => {
    await paid(await offered());
    network.others = nodesAround(record.address, 20);
    await expect(clock.run(storePaid(record, bytes, parts()))).rejects.toEqual(problem('QUOTE_EXPIRED'));
    network.others = [];
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
  });
});

it('a chunk is stored although the paid node has died', async () => {
  const offer = await offered();
  await paid(offer);
  const payee = offer.plan.quotes[3]!.peer;
  spoil(
    network.all.filter(({ address: { peerId } }) => peerId === payee),
    { isDead: true },
  );
  route = new NodeRoute({ nodes: network.client(), chain, clock });
  expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
  expect(holders()).toBe(7);
});

describe('nothing is paid', () => {
  it('if there are too few nodes', async () => {
    open(6);
    await expect(offered()).rejects.toEqual(problem('SHORTFALL'));
  });

  it('if most of the nodes that take browsers are not among the twenty closest', async () => {
    network.others = nodesAround(record.address, 14);
    await expect(offered()).rejects.toEqual(problem('SHORTFALL'));
  });

  it('if most of the closest nodes would not store it, because they know closer ones', async () => {
    for (const node of closest().slice(0, 4)) node.faults = { unknown: [node.address.peerId] };
    await expect(offered()).rejects.toEqual(problem('SHORTFALL'));
  });

  it('if no node answers', async () => {
    spoil(network.all, { isDead: true });
    await expect(clock.run(route.check(chain, signal))).rejects.toEqual(problem('SHORTFALL'));
  });

  it('if most nodes are of another chain', async () => {
    spoil(network.all.slice(0, 7), { payment: { chain_id: 1 } });
    await expect(clock.run(route.check(chain, signal))).rejects.toEqual(problem('CHAIN'));
  });
});

describe('a pointer without a relay', () => {
  const key = new OwnerKey(new Uint8Array(32).fill(5));
  const { address } = key;
  const target = Address.fromHex('ab'.repeat(32));
  const first = signPointer(key, { kind: 'chunk', target }, []);
  const state = pointerRecord(address, first.record);
  const second = signPointer(key, { kind: 'chunk', target: Address.fromHex('bc'.repeat(32)) }, [first]);
  let reader: PointerReader;
  let pointers: PointerPeer;
  /** The states that the user paid for. */
  let agreed: string[];

  beforeEach(() => {
    reader = nodePointerReader(network.client());
    agreed = [];
    pointers = paidPointers([reader], payFor, parts());
  });

  async function payFor(due: RecordToStore): Promise<void> {
    agreed.push(due.stateId!);
    const bill = await prepareBill([due], parts());
    for (const offer of bill.due.offers) await paid(offer);
  }

  /** The nodes, closest to the pointer first. */
  const around = () =>
    network.all.toSorted((a, b) => (distanceTo(a.address.peerId) < distanceTo(b.address.peerId) ? -1 : 1));
  const distanceTo = (peerId: string) => BigInt(`0x${peerId}`) ^ BigInt(`0x${address.hex}`);
  const holdersOf = ({ record }: Pointer) =>
    network.all.filter(({ pointers: held }) => {
      const found = held.get(address.hex);
      return found && equalBytes(found, record);
    }).length;
  const read = () => clock.run(reader.pointer(address, 5303, signal));
  async function store({ record }: Pointer) {
    await clock.run(pointers.prepare!(address, record, signal));
    return clock.run(pointers.putPointer(address, record, { signal }));
  }

  it('is paid for by its state, and brought to the close group of its address', async () => {
    await expect(read()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await store(first)).toBe('stored');
    expect(holdersOf(first)).toBe(7);
    expect(around().map(({ pointers }) => pointers.has(address.hex))).toEqual(
      network.all.map((_, i) => i < 7),
    );
    expect(await read()).toEqual(first.record);
    const entry = await journal.record(state.stateId);
    expect(entry).toMatchObject({ offer: { plan: { address: address.hex, stateId: state.stateId } } });
  });

  it('pays for each new state, and not for one that is stored', async () => {
    await store(first);
    expect(await store(first)).toBe('present');
    expect(await store(second)).toBe('stored');
    expect(agreed).toEqual([state.stateId, pointerRecord(address, second.record).stateId]);
    expect(await read()).toEqual(second.record);
  });

  it('proves the payment with its commitment', async () => {
    spoil(network.all, { committed: 200 });
    expect(await store(first)).toBe('stored');
    expect(holdersOf(first)).toBe(7);
  });

  it('is sent again without a payment if too few nodes have it', async () => {
    await store(first);
    for (const node of around().slice(0, 4)) node.pointers.clear();
    expect(await store(first)).toBe('stored');
    expect(holdersOf(first)).toBe(7);
    // The journal knows the payment, so the second agreement cost nothing.
    expect(network.paid.size).toBe(1);
  });

  it('needs five nodes that store it', async () => {
    openSmall();
    spoil(around().slice(0, 2), { pointerAnswer: 'full' });
    expect(await store(first)).toBe('stored');
    expect(holdersOf(first)).toBe(5);
    spoil(around().slice(0, 3), { pointerAnswer: 'full' });
    await expect(store(second)).rejects.toEqual(problem('SHORTFALL'));
  });

  async function offerFor(due: RecordToStore): Promise<Offer> {
    const [answer] = await route.quotes([due], signal);
    if (answer?.status !== 'quoted') throw new Error(`It is ${answer?.status}.`);
    return answer.offer;
  }

  it('is refused before a payment if too few nodes store pointers', async () => {
    spoil(around().slice(0, 3), { lacksPointers: true });
    await expect(store(first)).rejects.toEqual(problem('SHORTFALL'));
    expect(network.paid.size).toBe(0);
  });

  it('is not counted as stored because nodes claim to have all chunks', async () => {
    spoil(network.all, { claims: true });
    expect(await store(first)).toBe('stored');
    expect(holdersOf(first)).toBe(7);
  });

  it('is not stored by nodes that name another state, and these are left out', async () => {
    spoil(around().slice(0, 3), { pointerAnswer: 'other-state' });
    await expect(store(first)).resolves.toBe('stored');
    expect(holdersOf(first)).toBe(6);
    await expect(store(second)).rejects.toEqual(problem('SHORTFALL'));
  });

  it('is outdated only if a node has a newer state, whatever nodes say', async () => {
    openSmall();
    spoil(around().slice(0, 3), { pointerAnswer: 'stale' });
    await expect(store(first)).rejects.toEqual(problem('SHORTFALL'));
    spoil(network.all, {});
    for (const node of network.all) node.pointers.set(address.hex, second.record);
    expect(await clock.run(pointers.putPointer(address, first.record, { signal }))).toBe('outdated');
  });

  it('is outdated if another final state is there, which nothing replaces', async () => {
    openSmall();
    const mine = freezePointer(key, first, [first]);
    const rival = freezePointer(key, second, [second]);
    await clock.run(pointers.prepare!(address, mine.record, signal));
    for (const node of network.all) node.pointers.set(address.hex, rival.record);
    expect(await clock.run(pointers.putPointer(address, mine.record, { signal }))).toBe('outdated');
  });

  it('is stored by the second route if the first one had only said so', async () => {
    const liar: PaymentRoute = {
      url: 'https://liar.example',
      isDirect: false,
      hasBatches: false,
      check: async () => undefined,
      quotes: (records) => route.quotes(records, signal),
      pools: async () => undefined,
      store: async () => undefined,
    };
    pointers = paidPointers([reader], payFor, { ...parts(), relays: [liar, route] });
    await store(first);
    expect(holdersOf(first)).toBe(0);
    expect(await store(first)).toBe('stored');
    expect(holdersOf(first)).toBe(7);
    expect(network.paid.size).toBe(1);
  });

  it('is not asked for again while silent nodes may have it, and is stored if it was paid for', async () => {
    await store(first);
    for (const node of around().slice(0, 3)) node.pointers.clear();
    spoil(around().slice(3), { isDead: true });
    // Connections that are open would live on.
    const anew = nodePointerReader(network.client());
    await expect(clock.run(anew.hasState!(address, first.record, signal))).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    expect(agreed).toHaveLength(1);
    openSmall();
    await clock.run(pointers.prepare!(address, first.record, signal));
    reader.hasState = () => Promise.reject(new Error('It does not answer.'));
    expect(await clock.run(pointers.putPointer(address, first.record, { signal }))).toBe('stored');
  });

  /** Seven nodes, so that no others take the place of those that fail. */
  function openSmall(): void {
    open(7);
    reader = nodePointerReader(network.client());
    pointers = paidPointers([reader], async (due) => paid(await offerFor(due)), parts());
  }

  it('is unpaid if the nodes see no payment, and is stored later', async () => {
    await clock.run(pointers.prepare!(address, first.record, signal));
    const seen = [...network.paid];
    network.paid.clear();
    const putting = () => clock.run(pointers.putPointer(address, first.record, { signal }));
    await expect(putting()).rejects.toEqual(problem('UNPAID'));
    for (const hash of seen) network.paid.add(hash);
    expect(await putting()).toBe('stored');
  });

  it('reads chunks of the network, and verifies them', async () => {
    await paid(await offered());
    await clock.run(storePaid(record, bytes, parts()));
    const chunk = Address.fromHex(record.address);
    expect(await clock.run(reader.fetch(chunk, signal))).toEqual(bytes);
    await expect(clock.run(reader.fetch(target, signal))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('an upload that changes its route', () => {
  it('begins with nodes, and has a plan that relays take', async () => {
    spoil(closest().slice(2, 5), { committed: 3 });
    const offer = await offered();
    const answer = { ...offer, address: record.address, status: 'quoted' };
    expect(checkOffer(answer, record)).toEqual(offer);
    expect(checkStoredOffer(structuredClone(offer), record)).toEqual(offer);
  });

  it('continues with nodes after a relay gave the plan', async () => {
    // The plan of a relay is the same, whichever nodes it names.
    const quotes = closest()
      .slice(1, 8)
      .map((node) => network.price(node, record.address))
      .toSorted((a, b) => (a.peer < b.peer ? -1 : 1));
    const { quote_hash } = quoteOf(quotes[3]!, record.address);
    const plan = { ...record, quotes };
    const relayed = {
      address: record.address,
      status: 'quoted',
      plan,
      quoteHash: `0x${quote_hash}`,
      rewardsAddress: quotes[3]!.rewardsAddress,
      amount: `${3n * BigInt(quotes[3]!.price)}`,
    };
    await paid(checkOffer(relayed, record));
    expect(await clock.run(storePaid(record, bytes, parts()))).toBe('stored');
    expect(holders()).toBe(7);
  });
});

describe('the quote on the wire', () => {
  it('is the same after it was stored in a plan', async () => {
    const [node] = network.all;
    node!.faults = { committed: 16_000 };
    const quote = quoteOf(network.price(node!, record.address), record.address);
    const price = priceFrom(quote, node!.address.peerId, record.address);
    expect(quoteOf(structuredClone(price), record.address)).toEqual(quote);
  });

  it.each([
    [1, 7974, 856_858_491],
    [127, 7974, 856_864_917],
    [128, 7975, 858_079_824],
    [255, 7975, 858_086_428],
    [256, 7976, 859_277_595],
    [65_535, 7976, 859_304_318],
    [65_536, 7978, 861_686_295],
    [1_000_000, 7978, 861_694_121],
  ])('has a commitment to %i records as the crate rmp-serde writes it', (keyCount, length, sum) => {
    const series = (count: number, factor: number, modulus: number, first = 0) =>
      Uint8Array.from({ length: count }, (_, i) => ((i * factor) % modulus) + first);
    const base64 = (part: Uint8Array) => Buffer.from(part).toString('base64');
    const encoded = encodeCommitment(
      {
        peer: bytesToHex(series(32, 7, 1_000, 3)),
        publicKey: base64(series(1952, 5, 251)),
      },
      { root: bytesToHex(series(32, 9, 1_000)), keyCount, signature: base64(series(3309, 11, 256)) },
    );
    // Of `rmp_serde::to_vec` for a struct with these values: the sum of each byte times its position, from 1.
    expect(encoded).toHaveLength(length);
    expect(encoded.reduce((all, byte, i) => (all + (i + 1) * byte) % 1_000_000_007, 0)).toBe(sum);
    expect(bytesToHex(encoded.subarray(0, 12))).toBe('95dc00200009121b242d363f');
  });
});
