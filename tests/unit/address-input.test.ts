import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Address } from '../../src/address.ts';
import { NameBook } from '../../src/names/name-book.ts';
import { parseAddressInput } from '../../src/shell/open/address-input.ts';

const hex = 'be43dd41c1baeed69ee43005062b5c5f21b2c0b59b1ef4a6cde9a1c05ab24c3f';
const base32 = Address.fromHex(hex).base32;
const own = '11'.repeat(32);
const listed = '22'.repeat(32);
const names = new NameBook({
  own: { home: own, müller: own, shared: own },
  host: { docs: hex, 'my.site': hex, shared: hex },
  lists: new Map([
    ['club', { docs: hex, blog: listed, shared: listed, home: listed }],
    ['other', { blog: own }],
  ]),
});
const context = { names, origin: 'https://gateway.example' };

const read = (text: string) => parseAddressInput(text, context);

describe('the address box opens', () => {
  test.each([
    ['an address', hex, `/${hex}`],
    ['an address in capitals', hex.toUpperCase(), `/${hex}`],
    ['an address with space around it', `  ${hex}\n`, `/${hex}`],
    ['a path of this gateway', `/${hex}/page.html`, `/${hex}/page.html`],
    ['a folder in an archive', `${hex}/blog/`, `/${hex}/blog/`],
    ['a path with a query and a fragment', `${hex}/a?b=/c#d?e`, `/${hex}/a?b=/c#d?e`],
    ['an address with only a query', `${hex}?format=raw`, `/${hex}?format=raw`],
    ['a path with spaces and umlauts', `${hex}/über uns.html`, `/${hex}/%C3%BCber%20uns.html`],
    ['a path that is escaped already', `${hex}/a%20b%2Fc`, `/${hex}/a%20b%2Fc`],
    ['an ant:// link', `ant://${hex}`, `/${hex}`],
    ['an ant:// link with a path', `ANT://${hex}/film.mp4#t=30`, `/${hex}/film.mp4#t=30`],
    ['a link of AntTP', `http://127.0.0.1:18888/${hex}/index.html`, `/${hex}/index.html`],
    ['a link of a gateway below a prefix', `https://host.example/ant/${hex}/a`, `/${hex}/a`],
    ['a link without its scheme', `localhost:8080/${hex}/a`, `/${hex}/a`],
    ['a link of a gateway with hosts per site', `https://${base32}.host.example/a?b`, `/${hex}/a?b`],
    ['such a host in capitals with a port', `${base32.toUpperCase()}.localhost:80`, `/${hex}`],
    ['a link with the address in hex as its host', `http://${hex}/a`, `/${hex}/a`],
    ['an address in base32', base32, `/${hex}`],
    ['an ant:// link in base32', `ant://${base32}/a`, `/${hex}/a`],
    ['a link to the viewer of an app', `https://other.example/#view=${hex}/a?b`, `/${hex}/a?b`],
    ['a name of this gateway', 'docs', '/docs'],
    ['a path below a name', 'my.site/a/b.html', '/my.site/a/b.html'],
    ['a name in a link of this gateway', 'https://gateway.example/docs/a#b', '/docs/a#b'],
    ['an ant:// link to a name', 'ant://docs/a', '/docs/a'],
    ['a name of the user', '~home', `/${own}`],
    ['a path below a name of the user', '~home/a b?c#d', `/${own}/a%20b?c#d`],
    ['a name in another script and normal form', `~mu\u0308ller/x`, `/${own}/x`],
    ['such a name in a link', 'ant://~m%C3%BCller/x', `/${own}/x`],
    ['a name of the user in a link of this gateway', 'https://gateway.example/~home/a', `/${own}/a`],
    ['a bare name, which the user has too, as the user’s', 'shared/a', `/${own}/a`],
    [
      'a link of this gateway with such a name as the host’s',
      'https://gateway.example/shared/a',
      '/shared/a',
    ],
    ['a name of a list', 'blog@club/a', `/${listed}/a`],
    ['a name of a list in a link', 'ant://~blog@other/', `/${own}/`],
    ['a name of a list that the user has for another address', 'home@club', `/${listed}`],
    ['an address below a name of the user as a path', `~home/${hex}/a`, `/${own}/${hex}/a`],
    ['an address below a name of a list as a path', `blog@club/${hex}`, `/${listed}/${hex}`],
    ['such a path in a link', `ant://~home/${hex}/`, `/${own}/${hex}/`],
    ['such a path in a link of this gateway', `https://gateway.example/~home/${hex}`, `/${own}/${hex}`],
    ['such a path in a fragment', `https://gateway.example/#open=ant://~home/${hex}`, `/${own}/${hex}`],
    [
      'an address in the folder of a user at another host',
      `https://other.example/~ann/ant/${hex}/a`,
      `/${hex}/a`,
    ],
    [
      'an address in a link whose site has a folder with a tilde',
      `https://${base32}.gateway.example/~ann/`,
      `/${hex}/~ann/`,
    ],
  ])('%s', (_, text, path) => {
    expect(read(text)).toMatchObject({ path });
  });

  test.each([
    [hex, false],
    [`https://other.example/${hex}/a`, false],
    ['docs', true],
    ['https://gateway.example/docs/a', true],
    ['~home', true],
    ['home', true],
    ['blog@club', true],
  ])('%s, and whether it is a name: %s', (text, isName) => {
    expect(read(text)).toMatchObject({ isName });
  });

  test.each([
    'ant://manifest/wUFOVAE',
    ' ANT://MANIFEST/wUFOVAE\n',
    'https://other.example/#manifest/wUFOVAE/a.txt',
  ])('a manifest: %j', (link) => {
    expect(read(link)).toEqual({ manifestLink: 'ant://manifest/wUFOVAE' });
  });

  test('any path without leaving the address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (rest) => {
        const result = read(`${hex}/${rest}`);
        if ('path' in result) {
          expect(new URL(result.path, context.origin).href).toBe(context.origin + result.path);
          expect(result.path).toMatch(new RegExp(`^/${hex}(/|$)`));
        }
      }),
    );
  });
});

describe('the address box explains', () => {
  test.each([
    ['that it is empty', '   ', /type or paste/i],
    ['how many digits are missing', hex.slice(1), /64 hex digits.*has 63/],
    ['how many digits are too many', `${hex}00`, /has 66/],
    ['which character is no hex digit', `${hex.slice(0, -1)}x`, /“x”/],
    ['that a name is not known', 'dcos', /“dcos”.*name/],
    ['that names are spelled as configured', 'Docs', /“Docs”/],
    ['that the user has no such name', '~docs', /no name “~docs” in this browser/],
    ['that a list has no such name', 'docs@other', /no name “docs@other”/],
    ['that there is no such list', 'docs@nobody', /no name “docs@nobody”/],
    ['which meanings a name has', 'blog', /several meanings.*blog@club, blog@other/],
    [
      'that other gateways do not decide about names of the user',
      'https://other.example/~home',
      /no address/,
    ],
    ['that a path leads out of a name', '~home/../../-/stats', /leads out/],
    ['that an escaped path leads out of a name', 'ant://~home/%2e%2E/-/stats', /leads out/],
    ['that backslashes lead out of a name', '~home/..\\-\\stats', /leads out/],
    ['that dots are no name', 'ant://~../-/stats', /“~\.\.” is neither/],
    ['that an escaped slash ends no name', 'ant://~home%2f..%2f-/stats', /neither/],
    ['that a name has no control character', 'ant://~home%00/', /neither/],
    ['that a name does not change the direction of the text', 'ant://~\u202eemoh/', /neither/],
    ['that a name has no broken escapes', 'ant://~home%ff/', /neither/],
    ['that a name has no label in base32', `~home.${base32}`, /no name/],
    ['that a name has one list only', 'blog@club@other', /neither/],
    ['that a list cannot have a name of the user', '~home@nobody', /no name “~home@nobody”/],
    ['that a link has no address', 'https://example.com/page', /no address in this link/],
    ['that names of other gateways are not known here', 'https://example.com/docs', /no address/],
    ['that the start page of this gateway is no address', 'https://gateway.example/', /no address/],
    ['that other schemes are not opened', 'ipfs://bafy', /“ipfs:\/\/”/],
    ['that a path leads out of the address', `${hex}/../docs`, /leads out/],
    ['that an escaped path leads out of the address', `${hex}/%2e%2E/-/stats`, /leads out/],
    ['that backslashes lead out of the address', `${hex}/..\\..\\-/stats`, /leads out/],
  ])('%s', (_, text, problem) => {
    expect(read(text)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
