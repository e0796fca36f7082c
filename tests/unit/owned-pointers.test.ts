// @module-tag slow
import { createStore, get, set } from 'idb-keyval';
import { beforeEach, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { headEnd, parsePointer } from '../../src/content/pointer.ts';
import { AntwayError } from '../../src/errors.ts';
import { iterations } from '../../src/owner/iterations.ts';
import type { PointerPeer } from '../../src/owner/move-pointer.ts';
import { OwnedPointers, seedOfKeyFile } from '../../src/owner/owned-pointers.ts';
import { newSeed } from '../../src/owner/owner-key.ts';
import { importPrf } from '../../src/owner/passkey-wrapping.ts';
import { phraseOf } from '../../src/owner/recovery-phrase.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

// A million rounds take a quarter of a second, and these tests derive many keys. owner.test.ts has the real number.
Object.assign(iterations, { made: 1_000, least: 1_000 });

const passphrase = 'correct horse';
const signal = new AbortController().signal;
const target = (digit: string) => ({ kind: 'chunk', target: Address.fromHex(digit.repeat(64)) }) as const;
const raw = () => createStore('antway-owner-states', 'states');

/** Web Locks, which Node 20 does not have: one holder of a name at a time, in order. */
function stubLocks(): void {
  const last = new Map<string, Promise<unknown>>();
  const request = (name: string, _: object, work: () => Promise<unknown>) => {
    const result = (last.get(name) ?? Promise.resolve()).then(work);
    last.set(
      name,
      result.catch(() => undefined),
    );
    return result;
  };
  vi.stubGlobal('navigator', { locks: { request } });
}

/** A peer that holds pointers in memory. @param onPut called before it stores. */
function memoryPeer(onPut: (record: Uint8Array<ArrayBuffer>) => Promise<void> = async () => {}) {
  const records = new Map<string, Uint8Array<ArrayBuffer>>();
  const absent = () => new AntwayError('NOT_FOUND', 'Not here.');
  const peer: PointerPeer = {
    url: 'https://peer.example',
    fetch: () => Promise.reject(absent()),
    async pointer({ hex }) {
      const record = records.get(hex);
      if (!record) throw absent();
      return record;
    },
    async putPointer({ hex }, record) {
      await onPut(record);
      records.set(hex, record);
      return 'stored';
    },
  };
  return peer;
}

beforeEach(() => {
  freshIndexedDb();
  stubLocks();
});

it('a state is in the database before a peer gets it, and a state that no peer got is never signed again', async () => {
  const pointers = new OwnedPointers();
  const address = await pointers.add(newSeed(), passphrase, ' Garden ');
  let stored: string | undefined;
  const failing = memoryPeer(async () => {
    stored = (await get<{ states: string }>(address.hex, raw()))?.states;
    throw new AntwayError('PEERS_UNREACHABLE', 'The connection ended.');
  });
  const move = (digit: string, peer: PointerPeer) =>
    pointers.move(address, passphrase, target(digit), { peers: [peer], signal });
  await expect(move('1', failing)).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  expect(stored).toContain('1'.repeat(64));

  const later = new OwnedPointers();
  const [listed] = await later.list();
  expect(listed).toMatchObject({ label: 'Garden' });
  expect(listed!.states.newest?.counter).toBe(0n);
  const moved = await later.move(address, passphrase, target('2'), { peers: [memoryPeer()], signal });
  expect(moved.pointer.counter).toBe(1n);
  // The same target is sent again, and not signed again.
  expect((await move('2', memoryPeer())).pointer.record).toEqual(moved.pointer.record);
});

it('remembers the peers that did not take the newest state, until it is stored at the chosen peers', async () => {
  const pointers = new OwnedPointers();
  const address = await pointers.add(newSeed(), passphrase, 'Garden');
  const missing = async () => (await new OwnedPointers().list())[0]!.missingAt;
  let whileSending: readonly string[] = [];
  const taking = memoryPeer(async () => {
    whileSending = await missing();
  });
  const refusing = {
    ...memoryPeer(() => Promise.reject(new AntwayError('REFUSED', 'It takes no writes.'))),
    url: 'https://other.example',
  };
  const both = { peers: [taking, refusing], signal };
  await expect(pointers.move(address, passphrase, target('1'), both)).rejects.toMatchObject({
    code: 'REFUSED',
    details: { peer: 'https://other.example' },
  });
  expect(whileSending).toEqual(['https://peer.example', 'https://other.example']);
  expect(await missing()).toEqual(['https://other.example']);
  await pointers.store(address, { peers: [taking], signal });
  expect(await missing()).toEqual([]);
});

it('a payment that does not come leaves the list of the peers without the newest state as it is', async () => {
  const pointers = new OwnedPointers();
  const address = await pointers.add(newSeed(), passphrase, 'Garden');
  const refusing = memoryPeer(() => Promise.reject(new AntwayError('REFUSED', 'It takes no writes.')));
  const peers = { peers: [refusing], signal };
  await expect(pointers.move(address, passphrase, target('1'), peers)).rejects.toThrow();
  const unpaid: PointerPeer = {
    ...memoryPeer(),
    prepare: (_address, _record, _signal, before) =>
      before!.learn([]).then(() => Promise.reject(new AntwayError('REFUSED', 'Not paid.'))),
  };
  const other = { peers: [unpaid], signal };
  await expect(pointers.move(address, passphrase, target('2'), other)).rejects.toThrow('Not paid.');
  expect((await pointers.list())[0]!.missingAt).toEqual(['https://peer.example']);
});

it('a state whose payment was interrupted is signed again as the same state, also if it freezes', async () => {
  const pointers = new OwnedPointers();
  const address = await pointers.add(newSeed(), passphrase, 'Garden');
  const heads: string[] = [];
  let isPaid = true;
  const paid: PointerPeer = {
    ...memoryPeer(),
    async prepare(_address, record) {
      heads.push(Buffer.from(record.subarray(0, headEnd)).toString('hex'));
      if (!isPaid) throw new AntwayError('REFUSED', 'The page was closed.');
    },
  };
  const peers = { peers: [paid], signal };
  const actions = [
    () => pointers.move(address, passphrase, target('1'), peers),
    () => pointers.move(address, passphrase, target('2'), peers),
    () => pointers.freeze(address, passphrase, target('2'), peers),
  ];
  for (const [i, action] of actions.entries()) {
    isPaid = false;
    await expect(action()).rejects.toMatchObject({ code: 'REFUSED' });
    expect((await pointers.list())[0]!.states.all).toHaveLength(i);
    isPaid = true;
    await action();
    expect(heads.slice(-2)[0]).toBe(heads.slice(-2)[1]);
  }
});

it('the newest state is sent again without the key, and nothing is signed', async () => {
  const pointers = new OwnedPointers();
  const address = await pointers.add(newSeed(), passphrase, 'Garden');
  const sent: Uint8Array[] = [];
  const lost = memoryPeer(async () => {
    throw new AntwayError('PEERS_UNREACHABLE', 'The connection ended.');
  });
  const peer = memoryPeer(async (record) => void sent.push(record));
  await expect(pointers.store(address, { peers: [peer], signal })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await pointers.move(address, passphrase, target('1'), { peers: [peer], signal });
  const freezing = pointers.freeze(address, passphrase, target('1'), { peers: [lost], signal });
  await expect(freezing).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  const { pointer } = await pointers.store(address, { peers: [peer], signal });
  expect(sent.at(-1)).toEqual(pointer.record);
  expect((await pointers.list())[0]!.states.newest?.record).toEqual(pointer.record);
  expect(pointer.counter).toBe(2n ** 64n - 1n);
});

it('two moves at once have different counters', async () => {
  const address = await new OwnedPointers().add(newSeed(), passphrase, 'Garden');
  const peer = memoryPeer();
  const moves = await Promise.all(
    ['1', '2', '3'].map((digit) =>
      new OwnedPointers().move(address, passphrase, target(digit), { peers: [peer], signal }),
    ),
  );
  expect(moves.map(({ pointer }) => pointer.counter).sort()).toEqual([0n, 1n, 2n]);
});

it('a wrong passphrase signs nothing, and freezing is final', async () => {
  const pointers = new OwnedPointers();
  const address = await pointers.add(newSeed(), passphrase, '');
  const puts: bigint[] = [];
  const peer = memoryPeer(async (record) => void puts.push(parsePointer(record, address).counter));
  const peers = { peers: [peer], signal };
  await expect(pointers.move(address, 'another one', target('1'), peers)).rejects.toMatchObject({
    code: 'REFUSED',
  });
  await expect(pointers.freeze(address, passphrase, target('1'), peers)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(puts).toEqual([]);
  await pointers.move(address, passphrase, target('1'), peers);
  await pointers.freeze(address, passphrase, target('1'), peers);
  await expect(pointers.move(address, passphrase, target('2'), peers)).rejects.toMatchObject({
    code: 'REFUSED',
  });
  expect(puts).toEqual([0n, 2n ** 64n - 1n]);
});

it('a freeze takes only the target that the user has seen', async () => {
  const pointers = new OwnedPointers();
  const seed = newSeed();
  const address = await pointers.add(seed, passphrase, '');
  const peers = { peers: [memoryPeer()], signal };
  await pointers.move(address, passphrase, target('1'), peers);
  // Another device.
  const other = new OwnedPointers('another-device');
  await other.add(seed, passphrase, '');
  await other.move(address, passphrase, target('2'), peers);

  const freeze = (digit: string) => pointers.freeze(address, passphrase, target(digit), peers);
  await expect(freeze('1')).rejects.toMatchObject({
    code: 'REFUSED',
    message: expect.stringContaining('2'.repeat(64)),
  });
  // The newer state is known now, so the user can see it.
  expect((await pointers.list())[0]!.states.newest).toMatchObject({ counter: 1n, ...target('2') });
  expect((await freeze('2')).states.isFrozen).toBe(true);
});

it('damaged states are listed, and keep the pointer from being moved until its key is brought again', {
  tags: 'full',
}, async () => {
  const pointers = new OwnedPointers();
  const seed = newSeed();
  const address = await pointers.add(seed, passphrase, 'Garden');
  await pointers.add(newSeed(), passphrase, 'Another');
  await set(address.hex, { label: 'Garden', states: '{"antwayStates":1' }, raw());
  expect((await pointers.list()).map(({ label }) => label)).toEqual(['Another', 'Garden']);
  const move = () => pointers.move(address, passphrase, target('1'), { peers: [memoryPeer()], signal });
  await expect(move()).rejects.toMatchObject({ code: 'BAD_CONFIG' });
  await pointers.remove(address, signal);
  await pointers.add(seed, passphrase, 'Garden');
  expect((await move()).pointer.counter).toBe(0n);
  await pointers.clear();
  expect(await pointers.list()).toEqual([]);
});

it('pointers move to another browser with their labels and states, and those that are there stay', async () => {
  const pointers = new OwnedPointers();
  const address = await pointers.add(newSeed(), passphrase, 'Garden');
  await pointers.move(address, passphrase, target('1'), { peers: [memoryPeer()], signal });
  const damaged = await pointers.add(newSeed(), passphrase, 'Pond');
  await set(damaged.hex, { label: 'Pond', states: '{' }, raw());
  const { pointers: moved, bound } = await pointers.movable();
  expect(bound).toBe(0);
  expect(moved.map(({ label, states }) => [label, states === null])).toEqual([
    ['Garden', false],
    ['Pond', true],
  ]);

  freshIndexedDb();
  const others = new OwnedPointers();
  expect(await Promise.all(moved.map((each) => others.addMovable(each)))).toEqual([true, true]);
  const [garden, pond] = await others.list();
  expect(garden!.states.toJson()).toBe(moved[0]!.states);
  expect(pond).toMatchObject({ label: 'Pond', address: damaged });
  // The counter of the state that came along is never signed again.
  await others.move(address, passphrase, target('2'), { peers: [memoryPeer()], signal });
  const later = (await others.list())[0]!;
  expect(later.states.all.map(({ counter }) => counter)).toEqual([0n, 1n]);
  expect(await others.addMovable({ ...moved[0]!, label: 'Stranger' })).toBe(false);
  expect((await others.list())[0]).toEqual(later);
  await expect(others.addMovable({ ...moved[0]!, address: damaged })).rejects.toMatchObject({
    code: 'BAD_CONFIG',
  });
});

it('a passkey signs and exports like a passphrase, and its key leaves the browser only with a passphrase', {
  tags: 'full',
}, async () => {
  const pointers = new OwnedPointers();
  const seed = newSeed();
  const prf = await importPrf(crypto.getRandomValues(new Uint8Array(32)));
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const passkey = { prf, salt, credential: new Uint8Array([1, 2]), transports: [] };
  const address = await pointers.add(seed, passkey, 'Garden');
  const moved = await pointers.move(address, prf, target('1'), { peers: [memoryPeer()], signal });
  expect(moved.pointer.counter).toBe(0n);
  expect(await pointers.phrase(address, prf)).toBe(phraseOf(seed));
  expect(await seedOfKeyFile(await pointers.keyFile(address, prf, passphrase), passphrase)).toEqual(seed);
  expect(await pointers.movable()).toEqual({ pointers: [], bound: 1 });

  await pointers.addLock(address, prf, async () => passphrase, signal);
  expect(await pointers.movable()).toMatchObject({ pointers: [{ label: 'Garden' }], bound: 0 });
  await expect(pointers.removeLock(address, 'another one', signal)).rejects.toMatchObject({
    code: 'REFUSED',
  });
  expect((await pointers.list())[0]).toMatchObject({ hasPassphrase: true, passkey: { salt } });
  await pointers.removeLock(address, passphrase, signal);
  expect((await pointers.list())[0]).toMatchObject({ hasPassphrase: true, passkey: null });
});

it('a change of what unlocks a key ends if it is cancelled while the key is decrypted', {
  tags: 'full',
}, async () => {
  const pointers = new OwnedPointers();
  const seed = newSeed();
  const address = await pointers.add(seed, passphrase, 'Garden');
  const prf = await importPrf(crypto.getRandomValues(new Uint8Array(32)));
  const passkey = { credential: new Uint8Array([1]), transports: [], salt: new Uint8Array(32), prf };
  await pointers.add(seed, passkey, 'Garden');
  const stop = new AbortController();
  const removing = pointers.removeLock(address, passphrase, stop.signal);
  const changing = pointers.addLock(address, passphrase, async () => 'mellow crab harbour', stop.signal);
  stop.abort();
  const ended = { status: 'rejected', reason: stop.signal.reason };
  expect(await Promise.allSettled([removing, changing])).toEqual([ended, ended]);
  const words = phraseOf(seed);
  for (const unlock of [passphrase, prf]) expect(await pointers.phrase(address, unlock)).toBe(words);
});
