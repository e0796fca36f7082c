// @module-tag slow
import { serialize } from 'node:v8';
import { createStore, entries, get, set } from 'idb-keyval';
import { beforeEach, describe, expect, it } from 'vitest';
import { iterations } from '../../src/owner/iterations.ts';
import { OwnerKeyStore } from '../../src/owner/key-store.ts';
import { newSeed, OwnerKey } from '../../src/owner/owner-key.ts';
import { phraseOf } from '../../src/owner/recovery-phrase.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

// A million rounds take a quarter of a second, and these tests derive many keys. owner.test.ts has the real number.
Object.assign(iterations, { made: 1_000, least: 1_000 });

const passphrase = 'correct horse';
const refused = expect.objectContaining({ code: 'REFUSED' });
const raw = () => createStore('antway-owner', 'keys');

beforeEach(freshIndexedDb);

describe('the keys of pointers in a browser', () => {
  it('are given back for the passphrase alone, also to a later page', async () => {
    const seed = newSeed();
    const address = await new OwnerKeyStore().add(seed, passphrase);
    expect(address).toEqual(new OwnerKey(seed).address);
    const later = new OwnerKeyStore();
    expect(await later.list()).toEqual([{ address, hasPassphrase: true, passkey: null }]);
    expect(await later.seed(address, passphrase)).toEqual(seed);
    await expect(later.seed(address, 'correct house')).rejects.toEqual(refused);
    await expect(later.add(seed, 'short')).rejects.toEqual(expect.objectContaining({ code: 'BAD_CONFIG' }));
    await later.remove(address);
    expect(await later.list()).toEqual([]);
    await expect(later.seed(address, passphrase)).rejects.toEqual(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
  });

  it('leave no key material in the database, in no form', async () => {
    const seed = newSeed();
    await new OwnerKeyStore().add(seed, passphrase);
    const stored = await entries<string, object>(raw());
    expect(stored).toHaveLength(2);
    const plain = stored.filter(([, value]) => !(value instanceof CryptoKey));
    const bytes = Buffer.concat(plain.map((entry) => serialize(entry)));
    // The search finds what is there.
    const { passphrase: wrapping } = plain[0]![1] as { passphrase: { wrapped: Uint8Array } };
    expect(bytes.includes(Buffer.from(wrapping.wrapped))).toBe(true);
    const secret = Buffer.from(seed);
    const forms = [secret, ...(['hex', 'base64', 'base64url'] as const).map((form) => secret.toString(form))];
    for (const form of [...forms, passphrase, phraseOf(seed).slice(0, 20)]) {
      expect(bytes.includes(form)).toBe(false);
    }
  });

  it('move to another profile with their passphrase, and stay useless in a copy of its database', {
    tags: 'full',
  }, async () => {
    const seed = newSeed();
    const store = new OwnerKeyStore();
    const address = await store.add(seed, passphrase);
    const moved = await store.movable(address);
    expect(JSON.stringify(moved)).not.toContain(Buffer.from(seed).toString('hex'));
    await expect(store.movable(new OwnerKey(newSeed()).address)).rejects.toMatchObject({ code: 'NOT_FOUND' });

    freshIndexedDb();
    const other = new OwnerKeyStore();
    expect(await other.addMovable(address, moved)).toBe(true);
    expect(await other.seed(address, passphrase)).toEqual(seed);
    await expect(other.seed(address, 'correct house')).rejects.toEqual(refused);
    const entry = (await get<object>(address.hex, raw()))!;
    expect(serialize(entry).includes(Buffer.from(moved.deviceSecret, 'hex'))).toBe(false);
    // The search finds what is there.
    expect(serialize(entry).includes(Buffer.from(moved.wrapped, 'hex'))).toBe(true);
    expect(await other.movable(address)).toEqual(moved);

    await other.add(seed, 'another passphrase');
    expect(await other.addMovable(address, moved)).toBe(false);
    expect(await other.seed(address, 'another passphrase')).toEqual(seed);

    freshIndexedDb();
    await set(address.hex, entry, raw());
    await expect(new OwnerKeyStore().seed(address, passphrase)).rejects.toEqual(refused);
  });

  it('of another profile that were changed, or are of another pointer, give no seed', async () => {
    const store = new OwnerKeyStore();
    const address = await store.add(newSeed(), passphrase);
    const moved = await store.movable(address);
    const stranger = new OwnerKey(newSeed()).address;
    const changed = { ...moved, deviceSecret: 'ab'.repeat(32) };
    freshIndexedDb();
    const other = new OwnerKeyStore();
    await other.addMovable(stranger, moved);
    await other.addMovable(address, changed);
    for (const each of [stranger, address]) {
      await expect(other.seed(each, passphrase)).rejects.toEqual(refused);
    }
  });

  it('need the device key of this browser, which no script can export', async () => {
    const seed = newSeed();
    const address = await new OwnerKeyStore().add(seed, passphrase);
    const device = (await get<CryptoKey>('device', raw()))!;
    expect(device).toMatchObject({ extractable: false, usages: ['sign'] });
    for (const format of ['raw', 'jwk'] as const) {
      await expect(crypto.subtle.exportKey(format, device)).rejects.toThrow();
    }
    const copied = await get(address.hex, raw());
    freshIndexedDb();
    await set(address.hex, copied, raw());
    await expect(new OwnerKeyStore().seed(address, passphrase)).rejects.toEqual(refused);
  });

  it('cannot be exchanged for one another', async () => {
    const keys = new OwnerKeyStore();
    const [one, two] = [await keys.add(newSeed(), passphrase), await keys.add(newSeed(), passphrase)];
    await set(one.hex, await get(two.hex, raw()), raw());
    await expect(keys.seed(one, passphrase)).rejects.toEqual(refused);
  });

  it('agree on one device key if several pages store keys at once', { tags: 'full' }, async () => {
    const seeds = [newSeed(), newSeed(), newSeed()];
    const added = await Promise.all(seeds.map((seed) => new OwnerKeyStore().add(seed, passphrase)));
    for (const [i, address] of added.entries()) {
      expect(await new OwnerKeyStore().seed(address, passphrase)).toEqual(seeds[i]);
    }
  });

  it('count as the user’s if they were stored from a seed, or once a moved key was used', async () => {
    const store = new OwnerKeyStore();
    const address = await store.add(newSeed(), passphrase);
    expect(await store.provenAddresses()).toEqual([address]);
    const moved = await store.movable(address);

    freshIndexedDb();
    const other = new OwnerKeyStore();
    await other.addMovable(address, moved);
    expect((await other.list()).map(({ address }) => address)).toEqual([address]);
    expect(await other.provenAddresses()).toEqual([]);
    await expect(other.seed(address, 'correct house')).rejects.toEqual(refused);
    expect(await other.provenAddresses()).toEqual([]);
    await other.seed(address, passphrase);
    expect(await other.provenAddresses()).toEqual([address]);
  });

  it('never count as the user’s if a backup gives a key to the pointer of another owner', {
    tags: 'full',
  }, async () => {
    const { address } = new OwnerKey(newSeed());
    const store = new OwnerKeyStore();
    await store.addMovable(address, await forgedKey(newSeed(), address.hex));
    await expect(store.seed(address, passphrase)).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(await store.provenAddresses()).toEqual([]);
  });
});

/** A key as a stranger writes it into a backup: docs/reference/formats.md says how. */
async function forgedKey(seed: Uint8Array<ArrayBuffer>, address: string) {
  const { subtle } = crypto;
  const salt = new Uint8Array(16).fill(1);
  const nonce = new Uint8Array(12).fill(2);
  const deviceSecret = new Uint8Array(32).fill(3);
  const text = new TextEncoder().encode(passphrase);
  const password = await subtle.importKey('raw', text, 'PBKDF2', false, ['deriveBits']);
  const derivation = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: 600_000 };
  const bits = new Uint8Array(await subtle.deriveBits(derivation, password, 256));
  const both = Uint8Array.from([...bits, ...deviceSecret]);
  const master = await subtle.importKey('raw', both, 'HKDF', false, ['deriveKey']);
  const info = new TextEncoder().encode(`antway owner key 1 ${address}`);
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
  const aes = { name: 'AES-GCM', length: 256 };
  const key = await subtle.deriveKey(hkdf, master, aes, false, ['encrypt']);
  const wrapped = new Uint8Array(await subtle.encrypt({ name: 'AES-GCM', iv: nonce }, key, seed));
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return {
    iterations: 600_000,
    salt: hex(salt),
    nonce: hex(nonce),
    wrapped: hex(wrapped),
    deviceSecret: hex(deviceSecret),
  };
}
