// @module-tag slow
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { serialize } from 'node:v8';
import { createStore, del, entries, get, set } from 'idb-keyval';
import { beforeEach, describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/address.ts';
import { iterations } from '../../src/owner/iterations.ts';
import { OwnerKeyStore } from '../../src/owner/key-store.ts';
import { newSeed, OwnerKey } from '../../src/owner/owner-key.ts';
import {
  importPrf,
  type PasskeyWrapping,
  unwrapByPasskey,
  wrapByPasskey,
} from '../../src/owner/passkey-wrapping.ts';
import { wrapByPassphrase } from '../../src/owner/passphrase-wrapping.ts';
import { phraseOf } from '../../src/owner/recovery-phrase.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

// A million rounds take a quarter of a second, and these tests derive many keys. owner.test.ts has the real number.
Object.assign(iterations, { made: 1_000, least: 1_000 });

type Bytes = Uint8Array<ArrayBuffer>;

const bytes = (value: number, length = 32): Bytes => new Uint8Array(length).fill(value);
const raw = () => createStore('antway-owner', 'keys');
const refusedFor = (fault: string) => expect.objectContaining({ code: 'REFUSED', details: { fault } });
const random = (): Bytes => crypto.getRandomValues(new Uint8Array(32));

/** The inputs of the test vector, and the key and the encrypted seed that they give. */
const vector = {
  prf: bytes(1),
  deviceKey: bytes(2),
  salt: bytes(3),
  seed: bytes(4),
  nonce: bytes(5, 12),
  credential: fromHex('a1b2c3d4'),
  address: '712b76ed7abb8e7ab56821ef287797ef9d28df697b374286569a4daed5bbdce3',
  key: 'ca485841a327d682880be5bd41f50da451008a7e42c35d520cc900245920b5a9',
  wrapped: 'f14ed14cf213405ebdcd1c5dd1a437c281cbb0df79be440c18926e49f4daf3dffbbcc710e056f22c457fea76a5f22792',
};

/** The wrapping key, computed with Node's own functions. */
function derive(
  prf: Bytes,
  deviceKey: Bytes,
  { salt, credential }: Pick<PasskeyWrapping, 'salt' | 'credential'>,
  address: string,
) {
  const mac = createHmac('sha256', deviceKey).update('antway passkey 1 ').update(salt).digest();
  const info = `antway owner key by passkey 1 ${address} ${Buffer.from(credential).toString('hex')}`;
  return { key: Buffer.from(hkdfSync('sha256', prf, mac, info, 32)), info };
}

function decrypt(key: Uint8Array, { nonce, wrapped }: PasskeyWrapping, info: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(info));
  decipher.setAuthTag(wrapped.subarray(32));
  return Buffer.concat([decipher.update(wrapped.subarray(0, 32)), decipher.final()]);
}

async function signerOf(deviceKey: Bytes) {
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', deviceKey, hmac, false, ['sign']);
  return async (input: Bytes) => new Uint8Array(await crypto.subtle.sign('HMAC', key, input));
}

describe('the encryption of a seed by a passkey', () => {
  const { address } = new OwnerKey(vector.seed);
  const head = { credential: vector.credential, transports: ['internal'], salt: vector.salt };

  it('has the key and the bytes of the test vector, which Node’s own functions compute as well', async () => {
    const { key, info } = derive(vector.prf, vector.deviceKey, head, address.hex);
    const cipher = createCipheriv('aes-256-gcm', key, vector.nonce).setAAD(Buffer.from(info));
    const wrapped = Buffer.concat([cipher.update(vector.seed), cipher.final(), cipher.getAuthTag()]);
    expect({ address: address.hex, key: toHex(key), wrapped: toHex(wrapped) }).toEqual({
      address: vector.address,
      key: vector.key,
      wrapped: vector.wrapped,
    });
    const stored = { ...head, nonce: vector.nonce, wrapped: fromHex(vector.wrapped) };
    const prf = await importPrf(Uint8Array.from(vector.prf));
    expect(await unwrapByPasskey(stored, address, prf, await signerOf(vector.deviceKey))).toEqual(
      vector.seed,
    );
  });

  it('is decrypted by Node’s own functions, and has a nonce of its own each time', async () => {
    const prf = await importPrf(Uint8Array.from(vector.prf));
    const wrap = async () =>
      wrapByPasskey(vector.seed, address, { ...head, prf }, await signerOf(vector.deviceKey));
    const [one, two] = [await wrap(), await wrap()];
    const { key, info } = derive(vector.prf, vector.deviceKey, head, address.hex);
    expect(decrypt(key, one, info)).toEqual(Buffer.from(vector.seed));
    expect(one.nonce).not.toEqual(two.nonce);
    expect(() => decrypt(key, one, `${info}0`)).toThrow();
  });

  it('overwrites the output of the PRF, whose key no script can export', async () => {
    const output = Uint8Array.from(vector.prf);
    const prf = await importPrf(output);
    expect(output).toEqual(bytes(0));
    expect(prf).toMatchObject({ extractable: false, usages: ['deriveKey'] });
    await expect(crypto.subtle.exportKey('raw', prf)).rejects.toThrow();
  });

  it('serves one pointer and one credential only', async () => {
    const sign = await signerOf(vector.deviceKey);
    const prf = await importPrf(Uint8Array.from(vector.prf));
    const stored = await wrapByPasskey(vector.seed, address, { ...head, prf }, sign);
    const other = new OwnerKey(newSeed()).address;
    await expect(unwrapByPasskey(stored, other, prf, sign)).rejects.toEqual(refusedFor('passkey'));
    for (const change of [{ credential: fromHex('a1b2c3d5') }, { salt: bytes(9) }, { nonce: bytes(9, 12) }]) {
      const changed = { ...stored, ...change };
      await expect(unwrapByPasskey(changed, address, prf, sign)).rejects.toEqual(refusedFor('passkey'));
    }
  });
});

/** A passkey with this output of the PRF. A site can get one as well, if the user confirms it. */
async function passkeyOf(output: Bytes) {
  const prf = await importPrf(Uint8Array.from(output));
  return { prf, credential: fromHex('a1b2c3d4'), transports: ['internal'], salt: random() };
}

describe('a key that a passkey unlocks', () => {
  beforeEach(freshIndexedDb);
  const passphrase = 'correct horse';

  it('is given back to a later page for the same output of the PRF alone', async () => {
    const seed = newSeed();
    const output = random();
    const passkey = await passkeyOf(output);
    const address = await new OwnerKeyStore().add(seed, passkey);
    const later = new OwnerKeyStore();
    const [listed] = await later.list();
    expect(listed).toMatchObject({ address, hasPassphrase: false });
    expect(listed!.passkey).toMatchObject({ credential: passkey.credential, salt: passkey.salt });
    expect(await later.seed(address, (await passkeyOf(output)).prf)).toEqual(seed);
    await expect(later.seed(address, (await passkeyOf(random())).prf)).rejects.toEqual(refusedFor('passkey'));
    await expect(later.seed(address, passphrase)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    // No passphrase can protect it on the way to another browser.
    await expect(later.movable(address)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('leaves neither the seed nor the output of the PRF in the database', async () => {
    const seed = newSeed();
    const output = random();
    const address = await new OwnerKeyStore().add(seed, await passkeyOf(output));
    const stored = await entries<string, object>(raw());
    const text = Buffer.concat(
      stored.filter(([, value]) => !(value instanceof CryptoKey)).map((entry) => serialize(entry)),
    );
    // The search finds what is there.
    expect(text.includes(address.hex)).toBe(true);
    for (const secret of [seed, output].map((each) => Buffer.from(each))) {
      for (const form of [secret, secret.toString('hex'), secret.toString('base64')]) {
        expect(text.includes(form)).toBe(false);
      }
    }
    expect(text.includes(phraseOf(seed).slice(0, 20))).toBe(false);
  });

  it('can have a passphrase as well, and always keeps one of the two', async () => {
    const seed = newSeed();
    const passkey = await passkeyOf(random());
    const keys = new OwnerKeyStore();
    // An entry of version 1: a wrapping by a passphrase, and nothing around it.
    const address = await keys.add(seed, passphrase);
    const entry = (await get<{ passphrase: object }>(address.hex, raw()))!;
    await set(address.hex, entry.passphrase, raw());
    expect(await keys.list()).toEqual([{ address, hasPassphrase: true, passkey: null }]);
    expect(await keys.seed(address, passphrase)).toEqual(seed);
    await expect(keys.seed(address, passkey.prf)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(keys.removeLock(address, 'passphrase')).rejects.toMatchObject({ code: 'NOT_FOUND' });

    await keys.add(seed, passkey);
    for (const unlock of [passphrase, passkey.prf]) expect(await keys.seed(address, unlock)).toEqual(seed);
    await keys.removeLock(address, 'passphrase');
    await expect(keys.seed(address, passphrase)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await keys.seed(address, passkey.prf)).toEqual(seed);
    await expect(keys.removeLock(address, 'passkey')).rejects.toMatchObject({ code: 'NOT_FOUND' });

    await keys.add(seed, passphrase);
    await keys.removeLock(address, 'passkey');
    expect(await keys.list()).toEqual([{ address, hasPassphrase: true, passkey: null }]);
    await set(address.hex, { ...entry, version: 3 }, raw());
    await expect(keys.list()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    await expect(keys.add(seed, passkey)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    expect(await get(address.hex, raw())).toEqual({ ...entry, version: 3 });
  });

  it('is refused if it is the key of another pointer, and changes no lock of that one', async () => {
    const seed = newSeed();
    const { address } = new OwnerKey(newSeed());
    const keys = new OwnerKeyStore();
    // The writer of a backup chooses what it encrypts, and for which address.
    const secret = random();
    const written = await wrapByPassphrase(seed, address, passphrase, async () => secret);
    const { iterations, salt, nonce, wrapped } = written;
    const hex = { salt: toHex(salt), nonce: toHex(nonce), wrapped: toHex(wrapped) };
    await keys.addMovable(address, { iterations, ...hex, deviceSecret: toHex(secret) });
    await expect(keys.seed(address, passphrase)).rejects.toMatchObject({ code: 'CORRUPT' });
    await expect(keys.seed(address, 'another one')).rejects.toEqual(refusedFor('passphrase'));
  });

  it('is reported as damaged, and keeps neither the other keys nor its own other lock from use', async () => {
    const seed = newSeed();
    const passkey = await passkeyOf(random());
    const keys = new OwnerKeyStore();
    const address = await keys.add(seed, passkey);
    const whole = await get<{ passkey: PasskeyWrapping }>(address.hex, raw());
    const other = await keys.add(newSeed(), passphrase);
    const damaged = { passphrase: { salt: 1 }, passkey: null };
    const none = { version: 2, passphrase: null, passkey: null };
    for (const entry of [null, 'text', {}, none, { version: 2 }, { version: 2, ...damaged }]) {
      await set(address.hex, entry, raw());
      const listed = await keys.list();
      expect(listed).toContainEqual({ address, hasPassphrase: false, passkey: null });
      expect(listed).toContainEqual({ address: other, hasPassphrase: true, passkey: null });
      for (const unlock of [passphrase, passkey.prf]) {
        await expect(keys.seed(address, unlock)).rejects.toMatchObject({ code: 'CORRUPT' });
      }
      await expect(keys.movable(address)).rejects.toMatchObject({ code: 'CORRUPT' });
    }
    await set(address.hex, { ...damaged, ...whole, passphrase: damaged.passphrase }, raw());
    expect(await keys.list()).toContainEqual(expect.objectContaining({ address, hasPassphrase: false }));
    expect(await keys.seed(address, passkey.prf)).toEqual(seed);
    await expect(keys.removeLock(address, 'passkey')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await keys.add(seed, passphrase);
    for (const unlock of [passphrase, passkey.prf]) expect(await keys.seed(address, unlock)).toEqual(seed);
  });

  it('is lost with the device key, which no unlocking makes anew, until the words bring it back', async () => {
    const seed = newSeed();
    const passkey = await passkeyOf(random());
    const keys = new OwnerKeyStore();
    const address = await keys.add(seed, passkey);
    await keys.add(seed, passphrase);
    await del('device', raw());
    for (const unlock of [passphrase, passkey.prf]) {
      await expect(keys.seed(address, unlock)).rejects.toEqual(refusedFor('lost'));
    }
    await expect(keys.movable(address)).rejects.toEqual(refusedFor('lost'));
    expect(await get('device', raw())).toBeUndefined();
    const again = await passkeyOf(random());
    await keys.add(seed, again);
    expect(await keys.list()).toEqual([expect.objectContaining({ hasPassphrase: false })]);
    expect(await keys.seed(address, again.prf)).toEqual(seed);
  });

  it('stays encrypted for a site that knows the output of the PRF and has a copy of the entry', async () => {
    const seed = newSeed();
    const output = random();
    const store = new OwnerKeyStore();
    const address = await store.add(seed, await passkeyOf(output));
    await store.add(seed, passphrase);
    const entry = (await get<{ passkey: PasskeyWrapping }>(address.hex, raw()))!;
    const device = (await get<CryptoKey>('device', raw()))!;
    expect(device).toMatchObject({ extractable: false, usages: ['sign'] });
    for (const format of ['raw', 'jwk', 'pkcs8', 'spki'] as const) {
      await expect(crypto.subtle.exportKey(format, device)).rejects.toThrow();
    }
    // A backup has an output of the device key, for the salt of the passphrase.
    const leaked = fromHex((await store.movable(address)).deviceSecret);
    const { passkey } = entry;
    const { info } = derive(output, random(), passkey, address.hex);
    const guesses = [
      output,
      derive(output, bytes(0), passkey, address.hex).key,
      derive(output, output, passkey, address.hex).key,
      derive(output, leaked, passkey, address.hex).key,
      derive(output, random(), passkey, address.hex).key,
      ...[new Uint8Array(), passkey.salt, leaked].map(
        (salt) => new Uint8Array(hkdfSync('sha256', output, salt, info, 32)),
      ),
    ];
    for (const key of guesses) expect(() => decrypt(key, passkey, info)).toThrow();

    // The same code in the attacker's origin has another device key, or none.
    freshIndexedDb();
    const attacker = new OwnerKeyStore();
    await set(address.hex, entry, raw());
    const { prf } = await passkeyOf(output);
    await expect(attacker.seed(address, prf)).rejects.toEqual(refusedFor('lost'));
    await attacker.add(newSeed(), passphrase);
    await expect(attacker.seed(address, prf)).rejects.toEqual(refusedFor('passkey'));
    // With the device key it would be decrypted: the refusals above are not faults of the test.
    await set('device', device, raw());
    expect(await attacker.seed(address, prf)).toEqual(seed);
  });
});
