// @module-tag isolated
import { afterEach, expect, it, vi } from 'vitest';
import type { LibraryOffer, OfferedSite } from '../../src/site-pages/messages.ts';
import type { MovePort } from '../../src/site-pages/move-port.ts';
import { TakeOver } from '../../src/site-pages/take-over.ts';

const [a, b] = ['aa'.repeat(32), 'bb'.repeat(32)] as const;

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Runs the take-over against endpoints that answer with these values. @returns the bodies of POST requests by path. */
async function run(site: Partial<OfferedSite>, names: Record<string, string>, answers: object) {
  const posted: Record<string, unknown>[] = [];
  vi.stubGlobal('fetch', async (path: string, { method, body }: RequestInit) => {
    const name = path.replace('/-/', '').split('?')[0]!;
    if (method === 'POST') posted.push({ to: name, ...(typeof body === 'string' && JSON.parse(body)) });
    return Response.json(
      { settings: {}, trust: [], config: { names: {} }, pins: { pins: [] }, ...answers }[name] ?? {},
    );
  });
  const offered: OfferedSite = {
    address: a,
    path: `/${a}/`,
    name: null,
    title: 'A',
    icon: null,
    kind: 'archive',
    lastOpened: 1,
    isPinned: false,
    isPrivate: false,
    ...site,
  };
  const offer: LibraryOffer = {
    language: 'en',
    sites: [offered],
    settings: { names },
    restricted: [],
    publications: [],
  };
  const port = { get: async () => new Blob(['a manifest']) } as unknown as MovePort;
  const outcome = await new TakeOver(offer, port).run(() => undefined);
  return { ...outcome, posted };
}

it.each([
  ['the same address', { both: a }, '/both/', 'both'],
  // The address may be that of a pointer, which leads to the site.
  ['another address', { both: b }, '/both/', 'both'],
  ['nothing, also if it is a name of the user', {}, `/${a}/`, null],
])(
  'a site that was opened by a name of the host, which here is the host’s name of %s: %o',
  async (_, names, path, name) => {
    const site = { path: '/both/', name: 'both' };
    const { posted, copied } = await run(site, { both: a }, { config: { names } });
    expect(posted).toMatchObject([{ name, path, address: a }]);
    expect(copied).toBe(1);
  },
);

it('a manifest that is in memory only does not count as copied', async () => {
  const answers = { manifests: { id: a, isStored: false } };
  const { copied, problems } = await run({ isPrivate: true }, {}, answers);
  expect(copied).toBe(0);
  expect(problems).toMatchObject([{ what: 'A', code: 'REFUSED' }]);
});
