import { expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { AntwayError } from '../../src/errors.ts';
import { countPresent, mostAsked } from '../../src/publish/chunk-presence.ts';

const { signal } = new AbortController();

function addresses(count: number): Address[] {
  return Array.from({ length: count }, (_, i) => Address.fromHex(i.toString(16).padStart(64, '0')));
}

it('counts the chunks that a peer has', async () => {
  const present = new Set(['0', '2', '5'].map((digit) => digit.padStart(64, '0')));
  const has = async ({ hex }: Address) => present.has(hex);
  expect(await countPresent(addresses(6), has, signal)).toEqual({ present: 3, asked: 6 });
  expect(await countPresent([], has, signal)).toEqual({ present: 0, asked: 0 });
});

it('asks for a part of many chunks, with the first and the last', async () => {
  const asked = new Set<string>();
  const all = addresses(12_345);
  const has = async ({ hex }: Address) => asked.add(hex).has(hex);
  expect(await countPresent(all, has, signal)).toEqual({ present: mostAsked, asked: mostAsked });
  expect(asked.size).toBe(mostAsked);
  expect(asked.has(all[0]!.hex)).toBe(true);
  expect(asked.has(all.at(-1)!.hex)).toBe(true);
});

it('asks for at most eight chunks at a time', async () => {
  let running = 0;
  let most = 0;
  const has = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve));
    running--;
    return true;
  };
  await countPresent(addresses(50), has, signal);
  expect(most).toBe(8);
});

it('the first failure of a peer ends the requests', async () => {
  let requests = 0;
  const has = async () => {
    if (++requests === 10) throw new AntwayError('PEERS_UNREACHABLE', 'It is gone.');
    return true;
  };
  await expect(countPresent(addresses(500), has, signal)).rejects.toMatchObject({
    code: 'PEERS_UNREACHABLE',
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(requests).toBeLessThan(100);
});

it('ends when the user leaves', async () => {
  const leaving = new AbortController();
  const has = async () => {
    leaving.abort();
    return true;
  };
  await expect(countPresent(addresses(500), has, leaving.signal)).rejects.toThrow('aborted');
});
