import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { Address } from '../../src/address.ts';
import { shellHeaders } from '../../sw/shell-headers.ts';
import { expect, test } from '../support/chromium.ts';

const siteLabel = Address.fromHex('5e'.repeat(32)).base32;
const dist = new URL('../../dist/', import.meta.url);
const asset = (suffix: string) =>
  readdirSync(new URL('assets/', dist)).find((name) => name.endsWith(suffix))!;

/** URL path and path of the file, of every kind of file that has headers of its own. */
const files = [
  ['/', '/index.html'],
  ['/sw.js', '/sw.js'],
  ...['.js', '.wasm'].map((suffix) => [`/assets/${asset(suffix)}`, `/assets/${asset(suffix)}`] as const),
  ['/manifest.webmanifest', '/manifest.webmanifest'],
  ...readdirSync(new URL('-/', dist))
    .filter((name) => name.endsWith('.html'))
    .map((name) => [`/-/${name.replace('.html', '')}`, `/-/${name}`]),
] as const;

/** As of the worker. The origins of sites import the script at `/sw.js`, which the worker never answers. */
function expectedHeaders(file: string, host: string): Record<string, string> {
  const headers = shellHeaders(file, host);
  if (file !== '/sw.js') return headers;
  if (!host.startsWith(siteLabel)) return { ...headers, 'Cross-Origin-Resource-Policy': 'same-site' };
  const root = host.slice(siteLabel.length + 1);
  const policy = headers['Content-Security-Policy']!;
  const own = " 'wasm-unsafe-eval'";
  return { ...headers, 'Content-Security-Policy': policy.replace(own, ` ${root}/sw.js${own}`) };
}

/** A request that names a host, which `fetch` does not let a caller do. */
function headersOf(url: string, host: string): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { Host: host } }, (response) => {
      response.resume();
      resolve(response.headers);
    }).on('error', reject);
  });
}

test('the peer and the worker send the shell’s files with the same headers', async ({ startHost }) => {
  const host = await startHost({ peers: ['/'] });
  const { port } = new URL(host.url);
  const names = ['antway.localhost', `${siteLabel}.antway.localhost`, '127.0.0.1', '[::1]', '192.0.2.1'];
  for (const name of names.map((name) => `${name}:${port}`)) {
    for (const [path, file] of files) {
      // A navigation to the name of a site gets the page that starts its worker.
      // It has no page that takes over a library or tests the browser.
      if (['/index.html', '/-/move.html', '/-/self-test.html'].includes(file) && name.startsWith(siteLabel))
        continue;
      const sent = await headersOf(host.url + path, name);
      // The worker has no cache in front of it, and names the charset of every text.
      const { 'Cache-Control': _, 'Content-Type': type, ...expected } = expectedHeaders(file, name);
      expect(sent['content-type']!.split(';')[0], name + path).toBe(type!.split(';')[0]);
      for (const [header, value] of Object.entries(expected)) {
        expect(sent[header.toLowerCase()], `${name}${path} ${header}`).toBe(value);
      }
    }
  }
});

test('the guide for other hosts has the same policies', () => {
  const guide = readFileSync(new URL('../../docs/how-to/host-the-gateway.md', import.meta.url), 'utf8');
  const [ofShell, ofFrame] = [...guide.matchAll(/```text\n(default-src [^`]*)```/g)].map(([, text]) =>
    text!.trim().replaceAll(/\s+/g, ' '),
  );
  const written = (path: string) => shellHeaders(path, 'own')['Content-Security-Policy']!;
  expect(ofShell).toBe(written('/index.html').replace('frame-src *.own', 'frame-src frames'));
  expect(ofFrame!.replace('…', '*.own')).toBe(written('/-/root.html'));
  // Caddy's block, for the root name.
  const [, caddy] = /Content-Security-Policy "(default-src [^"]*frame-src \{args\[0\]\}[^"]*)"/.exec(guide)!;
  const ofRoot = { '{host}': 'own', '{args[0]}': '*.own', '{vars.imported}': '' };
  const filled = Object.entries(ofRoot).reduce((text, [name, value]) => text.replaceAll(name, value), caddy!);
  expect(filled).toBe(written('/index.html'));
});
