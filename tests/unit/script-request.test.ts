import { describe, expect, it } from 'vitest';
import { isApplied } from '../../src/gateway/script-request.ts';

const request = (destination: string, mode = 'no-cors') => ({ destination, mode }) as Request;
const [own, foreign] = [true, false].map((isOwn) => async () => isOwn) as [
  () => Promise<boolean>,
  () => Promise<boolean>,
];

describe('an answer with the destination', () => {
  it.each(['', 'image', 'audio', 'video', 'track', 'font', 'document', 'iframe', 'frame'])(
    '“%s” is shown',
    async (destination) => {
      expect(await isApplied(request(destination), foreign)).toBe(false);
    },
  );

  it.each([
    'script',
    'worker',
    'sharedworker',
    'serviceworker',
    'audioworklet',
    'paintworklet',
    'xslt',
    'json',
    'manifest',
    'object',
    'embed',
    'one of a later browser',
  ])('“%s” is applied, whichever document requests it', async (destination) => {
    expect(await isApplied(request(destination), own)).toBe(true);
    expect(await isApplied(request(destination), foreign)).toBe(true);
  });

  it('“style” is applied, except by a document of the same address', async () => {
    expect(await isApplied(request('style'), foreign)).toBe(true);
    expect(await isApplied(request('style'), own)).toBe(false);
  });

  it('“image” is applied if an SVG “use” element requests it', async () => {
    expect(await isApplied(request('image', 'same-origin'), own)).toBe(true);
  });
});
