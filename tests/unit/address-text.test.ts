import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { parseAddressText } from '../../src/address-text.ts';

const hex = 'be43dd41c1baeed69ee43005062b5c5f21b2c0b59b1ef4a6cde9a1c05ab24c3f';
const other = '12'.repeat(32);
const { base32 } = Address.fromHex(hex);

/** The result with the address as text. */
function read(text: string) {
  const result = parseAddressText(text);
  return 'site' in result ? { ...result, site: result.site.toString() } : result;
}

describe('a text that names content', () => {
  const bare = { isUrl: false, gateway: undefined };
  const url = { isUrl: true, gateway: undefined };
  const at = (gateway: string) => ({ isUrl: true, gateway });

  it.each<[string, object]>([
    [hex, { site: hex, rest: '', ...bare }],
    [hex.toUpperCase(), { site: hex, rest: '', ...bare }],
    [base32, { site: hex, rest: '', ...bare }],
    [base32.toUpperCase(), { site: hex, rest: '', ...bare }],
    [`\n  ${hex}/a b/100%.txt `, { site: hex, rest: '/a b/100%.txt', ...bare }],
    [`${hex}//a`, { site: hex, rest: '//a', ...bare }],
    [`${hex}/why?#1`, { site: hex, rest: '/why?#1', ...bare }],
    [`/${hex}/a`, { site: hex, rest: '/a', ...bare }],
    [`ant://${hex}`, { site: hex, rest: '', ...url }],
    [`ant:${hex}/a`, { site: hex, rest: '/a', ...url }],
    [`AUTONOMI://${base32}/a%20b`, { site: hex, rest: '/a%20b', ...url }],
    [`web+ant:ant://${hex}/x`, { site: hex, rest: '/x', ...url }],
    [`autonomi://${hex}?name=a.pdf`, { site: hex, rest: '?name=a.pdf', ...url }],
    [`http://127.0.0.1:8080/${hex}/`, { site: hex, rest: '/', ...at('http://127.0.0.1:8080') }],
    [`http://[::1]:8080/${hex}/x`, { site: hex, rest: '/x', ...at('http://[::1]:8080') }],
    [`https://a.example/ant/${hex}/x`, { site: hex, rest: '/x', ...at('https://a.example') }],
    [`https://user:pw@a.example/${hex}`, { site: hex, rest: '', ...at('https://a.example') }],
    [`localhost:8080/${hex}/a`, { site: hex, rest: '/a', isUrl: false, gateway: 'http://localhost:8080' }],
    [`[::1]:8080/${hex}/a`, { site: hex, rest: '/a', isUrl: false, gateway: 'http://[::1]:8080' }],
    [`a.example/${hex}`, { site: hex, rest: '', isUrl: false, gateway: 'https://a.example' }],
    [
      `http://${base32}.antway.localhost:8081/a?b#c`,
      { site: hex, rest: '/a?b#c', ...at('http://antway.localhost:8081') },
    ],
    [`${base32}.a.example/x`, { site: hex, rest: '/x', isUrl: false, gateway: 'https://a.example' }],
    [
      `https://${base32}.a.example/${other}/x`,
      { site: hex, rest: `/${other}/x`, ...at('https://a.example') },
    ],
    [
      `https://${base32}.a.example/-/content/${other}/x`,
      { site: other, rest: '/x', ...at('https://a.example') },
    ],
    [`http://${hex}/a`, { site: hex, rest: '/a', ...url }],
    ['sample', { site: 'sample', rest: '', ...bare }],
    ['my.site/a/b.html', { site: 'my.site', rest: '/a/b.html', ...bare }],
    ['ant://docs/a', { site: 'docs', rest: '/a', ...url }],
    [
      'http://antway.localhost:8080/sample/',
      { site: 'sample', rest: '/', ...at('http://antway.localhost:8080') },
    ],
    [`https://a.example/#view=${hex}/a?b`, { site: hex, rest: '/a?b', ...at('https://a.example') }],
    [
      'https://a.example/#read=docs/a%20b.md',
      { site: 'docs', rest: '/a%20b.md', ...at('https://a.example') },
    ],
    [
      `https://a.example/#open=${encodeURIComponent(`ant://${hex}/a`)}`,
      { site: hex, rest: '/a', ...at('https://a.example') },
    ],
    ['ant://manifest/wUFOVAE', { manifest: 'wUFOVAE', rest: '' }],
    ['https://a.example/#manifest/wUFOVAE/a/b.txt', { manifest: 'wUFOVAE', rest: '/a/b.txt' }],
    ['__proto__', { problem: 'noAddress', text: '__proto__' }],
    ['constructor', { site: 'constructor', rest: '', ...bare }],
    ['', { problem: 'empty', text: '' }],
    [' \t\n', { problem: 'empty', text: '' }],
    ['ipfs://bafy', { problem: 'scheme', text: 'ipfs://' }],
    ['javascript://x', { problem: 'scheme', text: 'javascript://' }],
    ['https://a.example/', { problem: 'noAddress', text: '' }],
    ['https://', { problem: 'noAddress', text: '' }],
    ['ant://', { problem: 'noAddress', text: '' }],
    ['../../etc/passwd', { problem: 'noAddress', text: '..' }],
    ['-rf', { problem: 'noAddress', text: '-rf' }],
    ['\u202e', { problem: 'noAddress', text: '\u202e' }],
  ])('is read: %j', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('has an address only in its exact length and its canonical spelling', () => {
    // The last character of the first text has spare bits that are not zero.
    for (const text of [`${base32.slice(0, -1)}b`, base32.slice(1), `${base32}a`, hex.slice(1), `${hex}0`]) {
      expect(read(text)).toMatchObject({ site: text });
    }
    expect(read(`0x${hex}`)).toMatchObject({ site: `0x${hex}` });
  });

  it('reads fragments in one level', () => {
    const nested = 'https://a.example/#view='.repeat(20_000) + hex;
    expect(read(nested)).toMatchObject({ problem: 'noAddress' });
    expect(read(`https://a.example/#view=https://b.example/#view=${hex}`)).not.toMatchObject({ site: hex });
  });

  it('never makes the parser throw, and never gets a gateway that is no origin', () => {
    const part = fc.oneof(
      fc.constantFrom(
        hex,
        base32,
        '/',
        '://',
        'ant',
        'https',
        '#view=',
        '#manifest/',
        '..',
        '%2e',
        ':',
        '@',
        '[',
        '?',
      ),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const result = parseAddressText(parts.join(''));
        if (!('site' in result)) return;
        if (result.gateway !== undefined) expect(new URL(result.gateway).origin).toBe(result.gateway);
        expect(result.rest).toMatch(/^([/?#]|$)/);
      }),
      { numRuns: 500 },
    );
  });
});
