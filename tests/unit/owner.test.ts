// @module-tag slow
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Address } from '../../src/address.ts';
import { finalCounter, newestPointer, parsePointer } from '../../src/content/pointer.ts';
import { iterations } from '../../src/owner/iterations.ts';
import { createKeyFile, parseKeyFile } from '../../src/owner/key-file.ts';
import { newSeed, OwnerKey } from '../../src/owner/owner-key.ts';
import { phraseOf, seedOfPhrase } from '../../src/owner/recovery-phrase.ts';
import { freezePointer, signPointer } from '../../src/owner/sign-pointer.ts';

interface Vector {
  address: string;
  counter: string;
  file: string;
  seed_hex: string;
  target: string;
  target_kind: number;
}

const folder = new URL('../fixtures/self-encryption/', import.meta.url);
const read = (file: string) => Uint8Array.from(readFileSync(new URL(file, folder)));
const vectors: Vector[] = JSON.parse(readFileSync(new URL('pointers.json', folder), 'utf8'));
const seed = new Uint8Array(32).fill(1);
const key = new OwnerKey(seed);
const [one, two] = ['11', '22'].map((byte) => Address.fromHex(byte.repeat(32))) as [Address, Address];
const chunk = (target: Address) => ({ kind: 'chunk', target }) as const;
const refused = expect.objectContaining({ code: 'REFUSED' });
const badConfig = expect.objectContaining({ code: 'BAD_CONFIG' });

describe('signPointer', () => {
  it.each(vectors)('signs the same head as the network’s software: $file', (vector) => {
    const owner = new OwnerKey(Buffer.from(vector.seed_hex, 'hex'));
    expect(owner.address.hex).toBe(vector.address);
    const counter = BigInt(vector.counter);
    const target = {
      kind: vector.target_kind === 0 ? 'chunk' : 'pointer',
      target: Address.fromHex(vector.target),
    } as const;
    const known = counter === 0n ? [] : [{ counter: counter - 1n }];
    const sign = counter === finalCounter ? freezePointer : signPointer;
    const signed = sign(owner, target, known);
    expect(signed.record.slice(0, 1994)).toEqual(read(vector.file).slice(0, 1994));
    expect(parsePointer(signed.record, owner.address)).toEqual(signed);
  });

  it('begins with the counter 0, and then signs a counter above every known one', () => {
    const first = signPointer(key, chunk(one), []);
    expect(first.counter).toBe(0n);
    const known = [{ counter: 3n }, parsePointer(read('pointer-s1-c7.bin'), key.address), first];
    const next = signPointer(key, chunk(two), known);
    expect(next.counter).toBe(8n);
    expect(newestPointer(first, [next])).toBe(next);
  });

  it('does not freeze a pointer by accident when the counters run out', () => {
    const last = [{ counter: finalCounter - 1n }];
    expect(() => signPointer(key, chunk(one), last)).toThrow(refused);
    expect(freezePointer(key, chunk(one), last).counter).toBe(finalCounter);
    expect(signPointer(key, chunk(one), [{ counter: finalCounter - 2n }]).counter).toBe(finalCounter - 1n);
  });

  it('signs nothing after the final state', () => {
    const known = [{ counter: 1n }, freezePointer(key, chunk(one), [])];
    expect(() => signPointer(key, chunk(two), known)).toThrow(refused);
    expect(() => freezePointer(key, chunk(two), known)).toThrow(refused);
  });

  it('refuses a pointer to itself', () => {
    expect(() => signPointer(key, { kind: 'pointer', target: key.address }, [])).toThrow(
      expect.objectContaining({ code: 'BAD_ADDRESS' }),
    );
  });
});

describe('an owner’s key', () => {
  it('refuses a seed of another length', () => {
    expect(() => new OwnerKey(new Uint8Array(31))).toThrow(badConfig);
    expect(newSeed()).not.toEqual(newSeed());
  });

  it('shows its secret neither as JSON nor by its properties', () => {
    expect(Object.keys(key).sort()).toEqual(['address', 'publicKey']);
  });
});

describe('a recovery phrase', () => {
  it('is BIP-39: the vectors of the specification', () => {
    expect(phraseOf(new Uint8Array(32))).toBe(`${'abandon '.repeat(23)}art`);
    expect(phraseOf(new Uint8Array(32).fill(0xff))).toBe(`${'zoo '.repeat(23)}vote`);
    expect(phraseOf(new Uint8Array(32).fill(0x7f))).toBe(
      `${'legal winner thank year wave sausage worth useful '.repeat(2)}legal winner thank year wave sausage worth title`,
    );
  });

  it('gives the seed back, however it is spaced and capitalised', () => {
    const own = newSeed();
    expect(seedOfPhrase(phraseOf(own))).toEqual(own);
    expect(seedOfPhrase(`  ${phraseOf(own).toUpperCase().replaceAll(' ', '\n ')}\n`)).toEqual(own);
  });

  it.each([
    ['too few words', 'abandon '.repeat(12), /24 words, not 12/],
    ['no words', '', /24 words, not 1/],
    ['an unknown word', `${'abandon '.repeat(20)}secret-word abandon abandon art`, /^Word 21 /],
    ['a wrong checksum', 'abandon '.repeat(24), /do not belong together/],
    ['another order', `art ${'abandon '.repeat(23)}`, /do not belong together/],
  ])('with %s is refused without a word of it in the message', (_, text, message) => {
    expect(() => seedOfPhrase(text)).toThrow(badConfig);
    expect(() => seedOfPhrase(text)).toThrow(message);
    expect(() => seedOfPhrase(text)).not.toThrow(/abandon|secret-word/);
  });
});

describe('a key file', () => {
  const passphrase = 'correct horse';

  it('is decrypted by its passphrase alone, and has no key material in any form', async () => {
    const own = newSeed();
    const text = await createKeyFile(own, passphrase);
    const file = parseKeyFile(text);
    expect(file.address).toEqual(new OwnerKey(own).address);
    expect(await file.seed(passphrase)).toEqual(own);
    await expect(file.seed('wrong horse!')).rejects.toEqual(refused);
    const buffer = Buffer.from(own);
    for (const form of ['hex', 'base64', 'base64url', 'latin1'] as const) {
      expect(text).not.toContain(buffer.toString(form));
    }
    expect(text).not.toContain(phraseOf(own).slice(0, 20));
    expect(text).not.toContain(passphrase);
    expect(await createKeyFile(own, passphrase)).not.toBe(text);
  });

  it('refuses the passphrase if any field was changed', async () => {
    const real = { ...iterations };
    onTestFinished(() => void Object.assign(iterations, real));
    expect(real).toMatchObject({ made: 1_000_000, least: 600_000 });
    Object.assign(iterations, { made: 1_000, least: 900 });
    const fields = JSON.parse(await createKeyFile(seed, passphrase));
    for (const [name, value] of [
      ['address', 'ab'.repeat(32)],
      ['iterations', 999],
      ['salt', '00'.repeat(16)],
      ['nonce', '00'.repeat(12)],
      ['seed', '00'.repeat(48)],
    ] as const) {
      const changed = JSON.stringify({ ...fields, [name]: value });
      await expect(parseKeyFile(changed).seed(passphrase), name).rejects.toEqual(refused);
    }
  });

  it('needs a passphrase of 8 characters', async () => {
    await expect(createKeyFile(seed, 'seven77')).rejects.toEqual(badConfig);
  });

  it('of another kind is refused before any derivation', async () => {
    const fields = JSON.parse(await createKeyFile(seed, passphrase));
    const texts = [
      '',
      'null',
      '[]',
      '{}',
      'key',
      ...[
        { iterations: 1 },
        { iterations: 2 ** 31 },
        { iterations: '1000000' },
        { kdf: 'none' },
        { seed: 'x' },
        { salt: 7 },
        { address: '../../x' },
      ].map((changes) => JSON.stringify({ ...fields, ...changes })),
    ];
    for (const text of texts) expect(() => parseKeyFile(text), text).toThrow(badConfig);
    const newer = JSON.stringify({ ...fields, antwayKey: 2 });
    expect(() => parseKeyFile(newer)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});
