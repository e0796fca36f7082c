import { describe, expect, it } from 'vitest';
import { parseVisit } from '../../src/library/visits.ts';
import { formerOrigin, mergeSettings, parseOffer } from '../../src/site-pages/library-offer.ts';

const [a, b] = ['aa'.repeat(32), 'bb'.repeat(32)] as const;
const here = 'http://antway.localhost:8080';
const site = {
  address: a,
  path: `/${a}/`,
  name: null,
  title: 'A',
  icon: null,
  kind: 'archive',
  lastOpened: 1,
  isPinned: true,
  isPrivate: false,
} as const;
const offer = {
  ...{ language: 'de', sites: [site], settings: { denied: [b] }, restricted: [b] },
  publications: [{ id: b, title: 'Garden' }],
};

describe('the origin that may offer its library', () => {
  const place = { hostname: 'antway.localhost', port: '8080' };

  it.each([
    ['#127.0.0.1', 'http://127.0.0.1:8080'],
    ['#localhost', 'http://localhost:8080'],
    ['#[::1]', 'http://[::1]:8080'],
  ])('is that of %s on the same port', (fragment, origin) => {
    expect(formerOrigin(place, fragment)).toBe(origin);
    expect(formerOrigin({ ...place, port: '' }, fragment)).toBe(origin.replace(':8080', ''));
  });

  it.each([
    '',
    '#',
    '#evil.example',
    '#127.0.0.1:9',
    '#127.0.0.1@evil.example',
    '#antway.localhost',
    '#x.localhost',
  ])('is invalid for “%s”', (fragment) => {
    expect(formerOrigin(place, fragment)).toBeUndefined();
  });

  it('is none for a page at another name', () => {
    for (const hostname of [
      '127.0.0.1',
      'localhost',
      'gateway.example',
      `${'a'.repeat(52)}.antway.localhost`,
    ]) {
      expect(formerOrigin({ ...place, hostname }, '#127.0.0.1')).toBeUndefined();
    }
  });
});

describe('an offer', () => {
  it('is read as the shell sends it', () => {
    expect(parseOffer(offer, here)).toEqual(offer);
    expect(parseOffer({ ...offer, language: 'xx' }, here).language).toBe('en');
  });

  it('has titles of publications that are one line of plain text', () => {
    const title = `\u202e<b>x\u0000\n${'T'.repeat(5_000)}`;
    const [parsed] = parseOffer({ ...offer, publications: [{ id: b, title }] }, here).publications;
    expect(parsed!.title).toMatch(/^<b>x T+$/);
    expect(parsed!.title).toHaveLength(200);
    expect(parseOffer({ ...offer, publications: undefined }, here).publications).toEqual([]);
  });

  it('has addresses and peers as the gateway writes them', () => {
    const settings = { peers: ['HTTPS://Peer.example:443/'] };
    const sites = [{ ...site, address: a.toUpperCase() }];
    const parsed = parseOffer({ ...offer, sites, settings, restricted: [b.toUpperCase()] }, here);
    expect(parsed.sites[0]!.address).toBe(a);
    expect(parsed.restricted).toEqual([b]);
    expect(parsed.settings.peers).toEqual(['https://peer.example']);
  });

  it('has titles that the library can store, and no icon that it could not show', () => {
    const sites = [{ ...site, title: 'T'.repeat(10_001), icon: `/${a}/${'i'.repeat(3_000)}` }];
    const [parsed] = parseOffer({ ...offer, sites }, here).sites;
    expect(parsed).toMatchObject({ title: 'T'.repeat(2_000), icon: null });
    expect(parseVisit(parsed).title).toHaveLength(2_000);
  });

  it.each<[string, unknown, string]>([
    ['nothing', null, 'REFUSED'],
    ['no sites', { ...offer, sites: undefined }, 'REFUSED'],
    ['a site without an address', { ...offer, sites: [{ ...site, address: 'x' }] }, 'REFUSED'],
    ['a title that is no text', { ...offer, sites: [{ ...site, title: {} }] }, 'REFUSED'],
    ['a decision for no address', { ...offer, restricted: ['x'] }, 'REFUSED'],
    ['sites that are not there', { ...offer, sites: Array(3) }, 'REFUSED'],
    ['an endless list', { ...offer, sites: Array(2 ** 32 - 1) }, 'REFUSED'],
    [
      'more peers than can be shown',
      { ...offer, settings: { peers: Array.from({ length: 33 }, (_, i) => `https://p${i}.example`) } },
      'TOO_LARGE',
    ],
    [
      'more lists than can be shown',
      {
        ...offer,
        settings: { lists: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`L ${i}`, a])) },
      },
      'TOO_LARGE',
    ],
    ['no settings', { ...offer, settings: undefined }, 'BAD_CONFIG'],
    ['what only the host may set', { ...offer, settings: { trusted: [a] } }, 'BAD_CONFIG'],
    [
      'a peer elsewhere without TLS',
      { ...offer, settings: { peers: ['http://evil.example'] } },
      'BAD_CONFIG',
    ],
  ])('is refused with %s', (_, value, code) => {
    expect(() => parseOffer(value, here)).toThrow(expect.objectContaining({ code }));
  });
});

const merged = (...both: Parameters<typeof mergeSettings>) => mergeSettings(...both).merged;

describe('merged settings', () => {
  it('have what only one side set', () => {
    expect(merged({}, {})).toEqual({});
    expect(merged({ transport: 'http' }, { peers: ['/'] })).toEqual({
      transport: 'http',
      peers: ['/'],
    });
  });

  it('are those of this origin where both set something', () => {
    expect(
      merged(
        { peers: ['https://here.example'], names: { one: a }, lists: { L: a }, cache: { maxBytes: 1 } },
        {
          peers: ['https://there.example'],
          names: { one: b, two: b },
          lists: { L: b, M: b },
          cache: { maxBytes: 2, memoryBytes: 3 },
        },
      ),
    ).toEqual({
      peers: ['https://here.example'],
      names: { one: a, two: b },
      lists: { L: a, M: b },
      cache: { maxBytes: 1, memoryBytes: 3 },
    });
  });

  it('allow no connections to nodes by an offer, and keep those that are allowed here', () => {
    expect(merged({}, { useNodes: true })).toEqual({});
    expect(merged({ useNodes: true }, { useNodes: false })).toEqual({ useNodes: true });
  });

  it('have no offered name that is invalid, looks like another name, or is one for another address', () => {
    const own = { names: { bank: a }, nameLists: { club: a } };
    const offered = {
      names: { bank: b, b4nk: b, Bank: b, 'ba-nk': b, bаnk: b, new: b, 'ne\u0301w': b },
      nameLists: { club: b, CLUB: b, other: b },
    };
    const { merged, left } = mergeSettings(own, offered);
    expect(merged).toEqual({ names: { bank: a, b4nk: b, new: b }, nameLists: { club: a, other: b } });
    expect(left.map(({ name }) => name)).toEqual([
      ...['bank', 'Bank', 'ba-nk', 'bаnk', 'ne\u0301w'],
      ...['club', 'CLUB'],
    ]);
  });

  it('have no offered name or label that the host has, or that looks like it', () => {
    const host = { names: { docs: a }, nameLists: { club: a } };
    const { merged, left } = mergeSettings(
      {},
      { names: { docs: b, Docs: b, x: b }, nameLists: { club: b } },
      host,
    );
    expect(merged).toEqual({ names: { x: b }, nameLists: {} });
    expect(left.map(({ name }) => name)).toEqual(['docs', 'Docs', 'club']);
    // A name of the user stays, whatever the host has.
    expect(mergeSettings({ names: { docs: b } }, { names: { docs: b } }, host)).toEqual({
      merged: { names: { docs: b } },
      left: [],
    });
  });

  it('have at most as many names as an offer may have', () => {
    const numbered = (count: number, prefix: string) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          prefix + String(i + 1000).replace(/./g, (c) => 'abcdefghjk'[+c]!),
          a,
        ]),
      );
    const { merged, left } = mergeSettings({ names: numbered(999, 'a') }, { names: numbered(3, 'b') });
    expect(Object.keys(merged.names!)).toHaveLength(1_000);
    expect(left).toHaveLength(2);
    expect(left[0]!.reason).toContain('1000');
  });

  it('deny the addresses of both sides, each once', () => {
    expect(merged({ denied: [a] }, { denied: [a.toUpperCase(), b] }).denied).toEqual([a, b]);
  });
});
