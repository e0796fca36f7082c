import { describe, expect, it } from 'vitest';
import { parseServerConfig } from '../../src/config.ts';
import { isLocalHost } from '../../src/shell/share/local-host.ts';
import { shareLinksOf } from '../../src/shell/share/share-links.ts';

const address = 'ab'.repeat(32);
const page = { address, path: '/page.html', manifest: null };

describe('a link works on this computer only', () => {
  it.each([
    'http://localhost:8080',
    'http://antway.localhost:8080',
    'http://127.0.0.1:8080',
    'http://127.9.9.9',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::1]:8080',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:192.168.0.1]',
    'http://[fd00::1]',
    'http://[fe80::1]',
    'http://10.0.0.1',
    'http://172.16.0.1',
    'http://172.31.255.1',
    'http://192.168.1.2',
    'http://169.254.1.1',
    'http://100.64.0.1',
    'http://0.0.0.0',
    'https://nas',
    'https://nas.local',
    'https://box.home.arpa',
    'https://LOCALHOST.',
  ])('at %s', (origin) => {
    expect(isLocalHost(new URL(origin).hostname)).toBe(true);
  });

  it.each([
    'https://gateway.example',
    'https://localhost.example',
    'https://10.example',
    'http://172.15.0.1',
    'http://172.32.0.1',
    'http://100.128.0.1',
    'http://11.0.0.1',
    'http://[2001:db8::1]',
  ])('but not at %s', (origin) => {
    expect(isLocalHost(new URL(origin).hostname)).toBe(false);
  });
});

describe('the main link', () => {
  it('is the link of this gateway if others can reach it', () => {
    const { main, isLocal, others } = shareLinksOf(page, 'https://gateway.example', [
      'https://other.example',
    ]);
    expect(main).toEqual({ kind: 'gateway', text: `https://gateway.example/${address}/page.html` });
    expect(isLocal).toBe(false);
    expect(others.map(({ kind }) => kind)).toEqual(['public', 'ant', 'address', 'embed']);
  });

  it('is that of a public gateway if this gateway is local', () => {
    const { main, isLocal, others } = shareLinksOf(page, 'http://antway.localhost:8080', [
      'https://one.example',
      'https://two.example',
    ]);
    expect(main).toEqual({ kind: 'public', text: `https://one.example/${address}/page.html` });
    expect(isLocal).toBe(true);
    expect(others.map(({ text }) => text)).toContain(`http://antway.localhost:8080/${address}/page.html`);
  });

  it('is the ant:// link if this gateway is local and no public gateway is known', () => {
    const { main } = shareLinksOf(page, 'http://127.0.0.1:8080', []);
    expect(main).toEqual({ kind: 'ant', text: `ant://${address}/page.html` });
  });

  it('of private content has the manifest in its fragment, and no snippet to embed', () => {
    const shared = { ...page, manifest: 'bWFuaWZlc3Q' };
    const { main, others } = shareLinksOf(shared, 'https://gateway.example', []);
    expect(main.text).toBe('https://gateway.example/#manifest/bWFuaWZlc3Q/page.html');
    expect(new URL(main.text).pathname).toBe('/');
    expect(others).toEqual([{ kind: 'ant', text: 'ant://manifest/bWFuaWZlc3Q' }]);
  });
});

it.each([
  ['/a.jpg', `<img src="ant://${address}/a.jpg" alt="">`],
  ['/a.webm', `<video src="ant://${address}/a.webm" controls></video>`],
  ['/a.mp3', `<audio src="ant://${address}/a.mp3" controls></audio>`],
  ['/', `<iframe src="ant://${address}/" title=""></iframe>`],
  ['/"><script>', `<iframe src="ant://${address}/&quot;><script>" title=""></iframe>`],
])('the snippet of %s has an element for the type, and escapes the path', (path, snippet) => {
  const { others } = shareLinksOf({ ...page, path }, 'https://gateway.example', []);
  expect(others.at(-1)).toEqual({ kind: 'embed', text: snippet });
});

describe('publicGateways', () => {
  it('takes origins', () => {
    const file = { publicGateways: ['https://gateway.example', 'https://a-b.example:8443'] };
    expect(parseServerConfig(file)).toEqual(file);
  });

  it.each([
    'http://gateway.example',
    'https://gateway.example/',
    'https://user@gateway.example',
    'https://gateway.example/#x',
    'https://localhost',
    'https://ġateway.example',
    'javascript:alert(1)',
    'https://evil.example\\@gateway.example',
    '',
    7,
  ])('refuses %s', (gateway) => {
    expect(() => parseServerConfig({ publicGateways: [gateway] })).toThrow('publicGateways[0]');
  });

  it('refuses a long list', () => {
    const gateways = Array(9).fill('https://gateway.example');
    expect(() => parseServerConfig({ publicGateways: gateways })).toThrow('publicGateways');
  });
});
