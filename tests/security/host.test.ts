import { request as httpRequest } from 'node:http';
import { blake3 } from 'hash-wasm';
import { Address } from '../../src/address.ts';
import { expect, sceneOfFile } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { ran } from './hostile-site.ts';

const group = 'The host';

const script = ran('in the shell');

const scene = sceneOfFile(async ({ startPeer, openGateway }) => {
  const peer = await startPeer();
  const writer = await publish(
    await makeTarchive({ 'index.html': '<!doctype html><title>Writer</title>' }),
    peer,
  );
  const files = { 'index.html': '<!doctype html>', 'x.js': script, 'x.css': 'body { opacity: 0.5 }' };
  const trusted = await publish(await makeTarchive(files), peer);
  const gateway = await openGateway({ peers: [peer.url], trusted: [trusted] });
  return { gateway, host: gateway.host, writer, trusted };
});

/** A request with headers that only a browser sets, as it would for a page at `name`. @returns the status. */
function put(url: string, name: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Host: name, Origin: `http://${name}` };
    httpRequest(url, { method: 'PUT', headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on('error', reject)
      .end(body);
  });
}

attack(
  group,
  'A site on its own origin writes chunks to the peer of this machine, under its own name and the gateway’s',
  'The peer refuses names of sites, and pages of other names.',
  async () => {
    const { gateway, host, writer } = scene();
    const page = await gateway.shell.context().newPage();
    const { port } = new URL(host.url);
    const root = `antway.localhost:${port}`;
    const site = `${Address.fromHex(writer).base32}.${root}`;
    const path = async (body: string) => `/chunk/${await blake3(body)}`;

    expect(await put(host.url + (await path('site')), site, 'site')).toBe(405);
    // The gateway's own name may: the peer takes writes, and refuses the name only.
    expect(await put(host.url + (await path('root')), root, 'root')).toBeLessThan(300);

    await page.goto(`http://${site}/`);
    await expect(page).toHaveTitle('Writer');
    const unwritten = await path('page');
    const outcomes = await page.evaluate(
      async (urls) =>
        Promise.all(
          urls.map((url) =>
            fetch(url, { method: 'PUT', body: 'page' }).then(
              ({ ok }) => (ok ? 'written' : 'refused'),
              () => 'refused',
            ),
          ),
        ),
      [`http://${site}`, `http://${root}`, host.url].map((origin) => origin + unwritten),
    );
    expect(outcomes).toEqual(['refused', 'refused', 'refused']);
    expect((await fetch(host.url + unwritten)).status).toBe(404);
  },
);

attack(
  group,
  'A chunk is a script and a page; it is opened at `/chunk/…`, framed there and loaded as a script, where no worker answers',
  'Its type is binary, and the browser may not guess another one.',
  async ({ browser }) => {
    const { host } = scene();
    const bytes = `${ran('script')} // <!doctype html><script>${ran('page')}</script>`;
    const chunk = `${host.url}/chunk/${await blake3(bytes)}`;
    expect((await fetch(chunk, { method: 'PUT', body: bytes })).ok).toBe(true);
    expect((await fetch(chunk)).headers.get('X-Content-Type-Options')).toBe('nosniff');

    const context = await browser.newContext({ serviceWorkers: 'block' });
    const messages: string[] = [];
    context.on('console', (message) => messages.push(message.text()));
    const page = await context.newPage();
    await page.goto(chunk).catch(() => undefined);
    await page.goto('about:blank');
    const outcome = await page.evaluate(async (src) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src }));
      const script = Object.assign(document.createElement('script'), { src });
      const done = new Promise((resolve) => {
        script.onload = () => resolve('ran');
        script.onerror = () => resolve('refused');
      });
      document.head.append(script);
      return done;
    }, chunk);
    await page.waitForLoadState('networkidle');
    expect(outcome).toBe('refused');
    expect(messages.filter((message) => message.startsWith('RAN'))).toEqual([]);
    await context.close();
  },
);

attack(
  group,
  'HTML that gets into the shell loads scripts and styles from content, even trusted content, and from chunks',
  'The shell’s policy names its own files, and no paths of content.',
  async () => {
    const { gateway, trusted: address } = scene();
    const messages: string[] = [];
    const chunk = `/chunk/${await blake3(script)}`;
    await fetch(gateway.url + chunk, { method: 'PUT', body: script });

    // The files are there, and content may use them.
    expect((await gateway.fetch(`/${address}/x.js`)).status).toBe(200);
    // The peer has answered with the first shell, and the worker answers with the second one.
    for (const page of [gateway.shell, await gateway.openPage('/')]) {
      page.on('console', (message) => messages.push(message.text()));
      const blocked = await page.evaluate(
        async (urls) => {
          const found: string[] = [];
          document.addEventListener('securitypolicyviolation', ({ blockedURI }) =>
            found.push(new URL(blockedURI).pathname),
          );
          await Promise.all(
            urls.map((url) => {
              const element = url.endsWith('.css')
                ? Object.assign(document.createElement('link'), { rel: 'stylesheet', href: url })
                : Object.assign(document.createElement('script'), { src: url });
              const done = new Promise((resolve) => {
                element.onload = () => resolve('loaded');
                element.onerror = () => resolve('failed');
              });
              document.head.append(element);
              return done;
            }),
          );
          return found.sort();
        },
        [`/${address}/x.js`, `/${address}/x.css`, chunk],
      );
      expect(blocked).toEqual([`/${address}/x.css`, `/${address}/x.js`, chunk].sort());
    }
    expect(messages).not.toContain('RAN in the shell');
  },
);
