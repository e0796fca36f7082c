import { expect, it } from 'vitest';
import type { Publication } from '../../src/gateway/state/publications.ts';
import { readPublication } from '../../src/site-pages/read-publication.ts';

const id = 'aa'.repeat(32);
const now = 1_700_000_000_000;

const publication = (change: Partial<Record<keyof Publication, unknown>> = {}) => ({
  ...{ id, isPrivate: true, isFolder: true, title: 'Secret garden', name: 'garden', files: 3, bytes: 9_000 },
  ...{ chunks: 'bb'.repeat(32), peers: ['https://one.example'], publishedAt: 5, replaces: null },
  ...change,
});

const read = (value: unknown) => readPublication(new Blob([JSON.stringify(value)]), id, now);

it('reads a publication as the other library wrote it', async () => {
  expect(await read(publication())).toEqual(publication());
});

it('makes titles plain text, keeps valid peers only, and takes a time of the future as now', async () => {
  const hostile = publication({
    title: ' \u202e\u0000\u2028 ',
    name: '\u2066<img src=x>\n.exe',
    peers: ['javascript:alert(1)', '/', 'http://router.lan', 'HTTPS://One.example/', 'https://u:p@x.example'],
    publishedAt: now + 86_400_000,
  });
  expect(await read(hostile)).toMatchObject({
    ...{ title: '<img src=x> .exe', peers: ['https://one.example'], publishedAt: now },
  });
});

it('drops properties that it does not know', async () => {
  const json = JSON.stringify(publication()).replace('{', '{"__proto__":{"x":1},"constructor":5,');
  const parsed = await readPublication(new Blob([json]), id, now);
  expect(parsed).toEqual(publication());
  expect('x' in parsed).toBe(false);
});

it.each<[string, Blob, string]>([
  ['no JSON', new Blob(['<html>']), 'CORRUPT'],
  ['another publication', new Blob([JSON.stringify(publication({ id: 'cc'.repeat(32) }))]), 'CORRUPT'],
  ['no publication', new Blob(['[]']), 'REFUSED'],
  ['an id that is a URL', new Blob([JSON.stringify(publication({ id: 'javascript:1' }))]), 'REFUSED'],
  ['endless chunks', new Blob([JSON.stringify(publication({ chunks: 'b'.repeat(63) }))]), 'REFUSED'],
  ['too many peers', new Blob([JSON.stringify(publication({ peers: new Array(101).fill('/') }))]), 'REFUSED'],
  ['too large', { size: 1e9 } as Blob, 'TOO_LARGE'],
])('refuses a file that is %s', async (_, file, code) => {
  await expect(readPublication(file, id, now)).rejects.toMatchObject({ code });
});
