import { expect, it } from 'vitest';
import { shareOf } from '../../src/shell/library/arrange.ts';
import { sizeText } from '../../src/shell/library/size-text.ts';

const mega = 1_000_000;

it.each([
  ['no total is known', [3, null], [2 * mega, null], null, '2 MB stored'],
  ['nothing of a pin is known yet', [0, 0], [0, 0], null, '0 B stored'],
  [
    'half of the chunks are a small part of the bytes',
    [2, 4],
    [2 * mega, 20 * mega],
    0.1,
    '2 MB of about 20 MB',
  ],
  ['all chunks are stored', [4, 4], [20 * mega, 20 * mega], 1, '20 MB'],
  ['the sizes of the missing chunks are unknown', [3, 4], [mega, mega], 0.99, '1 MB of about 1 MB'],
  ['no size is known', [1, 4], [0, 0], 0.25, '0 B of about 0 B'],
] as const)('the stored share and the size agree when %s', (_, chunks, bytes, share, text) => {
  const site = {
    chunks: { stored: chunks[0], total: chunks[1] },
    bytes: { stored: bytes[0], total: bytes[1] },
  };
  expect(shareOf(site)).toBe(share);
  expect(sizeText(site)).toBe(text);
});
