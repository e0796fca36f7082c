// @module-tag isolated
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { Archive } from '../../src/content/archive.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { AntwayError, type Attempt, type ErrorCode, errorStatus } from '../../src/errors.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { errorResponse } from '../../src/gateway/pages/error-response.ts';
import { listingJson, listingPage } from '../../src/gateway/pages/listing.ts';
import { missingFrom } from '../../src/gateway/pages/missing-file.ts';
import { openingPage } from '../../src/gateway/pages/opening-page.ts';
import {
  html,
  leadOn,
  type OwnScript,
  openOnceFound,
  page,
  reloadOnceOnline,
  trustQuestion,
} from '../../src/gateway/pages/page.ts';
import { de } from '../../src/gateway/pages/texts/de.ts';
import { en } from '../../src/gateway/pages/texts/en.ts';
import { confirmation, question } from '../../src/gateway/pages/trust-question.ts';
import { ChosenAppearance } from '../../src/gateway/state/appearance.ts';
import type { StoredParts } from '../../src/gateway/state/stored-parts.ts';
import { TrustTokens } from '../../src/gateway/state/trust-tokens.ts';

const english = { texts: en, theme: null };
const hostile = `<script>alert("1 & 2")</script>'`;
const url = `https://gateway.example/${'ab'.repeat(32)}/`;

/** A request as the worker gets it for a page: `mode` cannot be set on one that is made by hand. */
function navigation(languages?: string): Request {
  const headers = languages === undefined ? {} : { 'Accept-Language': languages };
  return Object.defineProperty(new Request(url, { headers }), 'mode', { value: 'navigate' });
}

/** The answer to a failed request of a gateway in a browser that stores nothing. */
function respondTo(error: AntwayError, request: Request): Promise<Response> {
  const appearance = new ChosenAppearance(() => Promise.reject(new Error('blocked')));
  const deployment = deploymentAt(new URL(request.url).origin);
  return errorResponse(error, request, { deployment, appearance });
}

function archiveOf(paths: string[], refused: Archive['refused'] = []) {
  const members = paths.map((path) => ({
    path,
    size: 1234,
    modified: 7,
    load: async () => memorySource(new Uint8Array()),
  }));
  return new Archive(members, undefined, refused);
}

describe('HTML', () => {
  it('escapes every value, and its own output not twice', () => {
    const item = html`<li>${hostile}</li>`;
    expect(html`<ul title="${hostile}">${[item, item]}${5}</ul>`.text).toBe(
      `<ul title="&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;&#39;">${`<li>&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;&#39;</li>`.repeat(2)}5</ul>`,
    );
  });

  it('of a page escapes all foreign text', () => {
    const text = fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a', '/') });
    const plain = page(english, '', html``);
    const tags = (document: string) => document.match(/<[^>]*>/g)!.length;
    fc.assert(
      fc.property(text, text, (title, body) => {
        expect(tags(page(english, title, html`${body}`))).toBe(tags(plain));
      }),
    );
  });
});

describe('the look of a page', () => {
  it('is the system’s, or the theme that was chosen', () => {
    expect(page(english, '', html``)).toContain('<html lang="en">');
    expect(page({ texts: de, theme: 'dark' }, '', html``)).toContain('<html lang="de" data-theme="dark">');
  });

  it('has the mark of the shell, in the page itself', () => {
    const icon = readFileSync(new URL('../../public/icon.svg', import.meta.url), 'utf8');
    const shapes = (svg: string) =>
      Array.from(svg.matchAll(/ (?:d|cx|cy|r|fill)="[^"]*"/g), ([text]) => text);
    const svg = /<svg.*?<\/svg>/s.exec(page(english, '', html``))![0];
    expect(shapes(svg)).toEqual(shapes(icon));
  });
});

describe('a listing', () => {
  const links = (document: string) =>
    Array.from(document.matchAll(/<a href="(\.\/[^"]*)"/g), ([, href]) => href!.replaceAll('&#39;', "'"));

  it('links to every entry so that the link, followed, asks for exactly that path', () => {
    const names = [
      'plain.txt',
      'with blank.txt',
      'a:b',
      'javascript:alert(1)',
      '?q#f',
      '100%',
      'ä日😀',
      `'"<&>`,
      '\\',
      '%2e%2e',
      '...',
      'folder:x/y',
    ];
    const prefix = 'a b/c:d/';
    const archive = archiveOf(names.map((name) => prefix + name));
    const hrefs = links(listingPage(archive, prefix, archive.folder(prefix)!, 'title', english));
    expect(hrefs).toHaveLength(names.length);
    const base = new URL(`${url}a%20b/c:d/`);
    const paths = hrefs.map((href) => decodeURIComponent(new URL(href, base).pathname.slice(66)));
    expect(paths.toSorted()).toEqual(names.map((name) => prefix + name.replace('/y', '/')).toSorted());
  });

  it('leads up, but not out of the archive', () => {
    const archive = archiveOf(['a/b']);
    expect(listingPage(archive, '', archive.folder('')!, 't', english)).not.toContain('../');
    expect(listingPage(archive, 'a/', archive.folder('a/')!, 't', english)).toContain('href="../"');
  });

  it('escapes names, titles and reasons', () => {
    const archive = archiveOf([hostile.replaceAll('/', '')], [{ path: hostile, reason: hostile }]);
    const document = listingPage(archive, '', archive.folder('')!, hostile, english);
    expect(document).not.toContain('<script');
    expect(document).toContain('&lt;script&gt;');
  });

  it('names a hundred refused entries and counts the rest', () => {
    const refused = Array.from({ length: 50_000 }, (_, i) => ({ path: `${i}`, reason: 'why' }));
    const archive = archiveOf(['a'], refused);
    const document = listingPage(archive, '', archive.folder('')!, 't', english);
    expect(document).toContain('50,000 entries');
    expect(document).toContain('and 49900 more');
    expect(document.length).toBeLessThan(50_000);
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [1_500_000, '1.5 MB'],
    [1e9, '1.0 GB'],
    [1e12, '1.0 TB'],
    [1e15, '1000.0 TB'],
  ])('writes %i bytes as %s', (size, text) => {
    const archive = new Archive([
      { path: 'a', size, modified: 0, load: async () => memorySource(new Uint8Array()) },
    ]);
    expect(listingPage(archive, '', archive.folder('')!, 't', english)).toContain(`>${text}<`);
  });

  it('of 10,000 entries is made within a second or two', () => {
    const archive = archiveOf(Array.from({ length: 10_000 }, (_, i) => `file ${i} <ä>.txt`));
    const startedAt = performance.now();
    const document = listingPage(archive, '', archive.folder('')!, 't', english);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(links(document)).toHaveLength(10_000);
  });

  it('in JSON has the shape of AntTP’s PathDetail', () => {
    expect(JSON.parse(listingJson(archiveOf(['a/b', 'c d.txt']).folder('')!))).toEqual([
      { path: 'a/', display: 'a/', modified: 0, size: 0, path_type: 'DIRECTORY' },
      { path: 'c d.txt', display: 'c d.txt', modified: 7, size: 1234, path_type: 'FILE' },
    ]);
  });
});

/** Expects a page to have one script, which its policy allows and nothing else. @returns the policy's parts. */
async function expectOnly(script: OwnScript, response: Response): Promise<string[]> {
  const scripts = [...(await response.text()).matchAll(/<script>(.*?)<\/script>/gs)];
  expect(scripts.map(([, text]) => text)).toEqual([script.text]);
  const hash = createHash('sha256').update(script.text).digest('base64');
  const policy = response.headers.get('Content-Security-Policy')!.split('; ');
  expect(policy).toContain(`script-src 'sha256-${hash}'`);
  expect(policy).toContain("default-src 'none'");
  return policy;
}

describe('the opening page', () => {
  it('has one script, which leads to its link, and leads there without scripts, too', async () => {
    const to = `${url}?a=1&b="2"`;
    const text = await openingPage(to, english, deploymentAt('https://gateway.example')).text();
    const escaped = to.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    expect(text).toContain(`<a class="primary" href="${escaped}">`);
    expect(text).toContain(`<noscript><meta http-equiv="refresh" content="0; url=${escaped}"></noscript>`);
    await expectOnly(leadOn, openingPage(to, english, deploymentAt('https://gateway.example')));
  });
});

describe('the question of a first visit', () => {
  const address = Address.fromHex('ab'.repeat(32));
  const grant = { address, content: address, name: hostile, step: 'question' } as const;
  const tokens = new TrustTokens();

  it.each([
    ['question', question],
    ['confirmation', confirmation],
  ] as const)('has one script, which may send nothing (%s)', async (_, ask) => {
    const policy = await expectOnly(trustQuestion, ask(grant, '/?a', english, tokens));
    expect(policy.join()).not.toContain('connect-src');
    expect(policy).toContain("form-action 'self'");
  });

  it.each([
    ['en', en],
    ['de', de],
  ])('says what comes of each answer (%s)', async (_, texts) => {
    const reader = { texts, theme: null };
    const document = await question(grant, '/?a', reader, tokens).text();
    expect(document).not.toContain(hostile);
    for (const decision of ['restricted', 'confirm'] as const) {
      const [, id] = new RegExp(`value="${decision}"[^>]*aria-describedby="([^"]+)"`).exec(document)!;
      const means = decision === 'confirm' ? texts.firstVisit.trustMeans : texts.firstVisit.restrictMeans;
      expect(document).toContain(`id="${id}">${means}</p>`);
      // Another one in every page: a URL's fragment could name it.
      expect(await question(grant, '/?a', reader, tokens).text()).not.toContain(id);
    }
    expect(document).not.toContain('value="trusted"');
    expect(document).not.toContain(texts.firstVisit.pointer);
  });

  it('says that a pointer can change, and lets the user trust a version or the owner', async () => {
    const pointer = { ...grant, content: Address.fromHex('cd'.repeat(32)) };
    expect(await question(pointer, '/', english, tokens).text()).toContain(en.firstVisit.pointer);
    const document = await confirmation(pointer, '/', english, tokens).text();
    expect(document).toContain(`value="trusted" class="secondary">${en.confirmTrust.version}`);
    expect(document).toContain(`value="owner" class="secondary">${en.confirmTrust.owner}`);
    expect(await confirmation(grant, '/', english, tokens).text()).not.toContain('value="owner"');
  });
});

describe('an error', () => {
  const connected = { name: 'net', state: 'connected', peers: 9, since: null, problem: null } as const;
  const attempts = [
    {
      peer: 'https://peer.example',
      transport: 'http',
      stage: 'receive',
      code: 'NOT_FOUND',
      message: hostile,
      milliseconds: 12,
    },
  ] as const;

  it.each(Object.entries(errorStatus).filter(([code]) => code !== 'METHOD' && code !== 'BAD_RANGE'))(
    '%s is a page for a navigation and JSON for the rest, with status %i',
    async (code, status) => {
      const error = new AntwayError(code as ErrorCode, hostile, { address: 'ab', attempts });
      const shown = await respondTo(error, navigation());
      expect(shown.status).toBe(status);
      expect(shown.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
      expect(shown.headers.get('Cache-Control')).toBe('no-store');
      expect(shown.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
      const document = await shown.text();
      expect(document).toContain(code);
      expect(document).toContain('https://peer.example');
      if (code !== 'OFFLINE') expect(document).not.toContain('<script');

      const data = await respondTo(error, new Request(url));
      expect(data.status).toBe(status);
      expect(data.headers.get('Content-Type')).toBe('application/json');
      expect(await data.json()).toEqual({ code, message: hostile, address: 'ab', details: { attempts } });
    },
  );

  it('is plain text for what a site on its own origin fetches, and JSON for its endpoints', async () => {
    const error = new AntwayError('NOT_FOUND', 'It is not here.');
    const origin = `https://${Address.fromHex('ab'.repeat(32)).base32}.gateway.example`;
    const data = await respondTo(error, new Request(`${origin}/all.json`));
    expect(data.status).toBe(404);
    expect(data.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
    expect(data.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(await data.text()).toBe('NOT_FOUND: It is not here.');
    const refused = await respondTo(error, new Request(`${origin}/-/stats`));
    expect(refused.headers.get('Content-Type')).toBe('application/json');
  });

  it('for want of a network has one script, which nothing else may be', async () => {
    const error = new AntwayError('OFFLINE', hostile, { address: 'ab' });
    const policy = await expectOnly(reloadOnceOnline, await respondTo(error, navigation()));
    expect(policy).toContain("connect-src 'self'");
  });

  it.each<[StoredParts, string]>([
    [{ file: null, whole: { stored: 0, total: null } }, 'No part of it is stored on this device.'],
    [{ file: null, whole: { stored: 12, total: 40 } }, '12 of 40 chunks are stored on this device.'],
    [
      { file: null, whole: { stored: 1, total: null } },
      '1 chunk is stored on this device. The total is not known yet.',
    ],
    [
      { file: { path: 'a<b', stored: 0, total: 2 }, whole: { stored: 3, total: 9 } },
      '0 of 2 chunks of “a&lt;b” are stored on this device. 3 of 9 chunks of the whole site',
    ],
  ])('tells how much is stored: %j', async (stored, text) => {
    const error = new AntwayError('PEERS_UNREACHABLE', 'no', { address: 'ab', stored });
    expect(await (await respondTo(error, navigation())).text()).toContain(text);
    expect((await (await respondTo(error, new Request(url))).json()).details).toEqual({ stored });
  });

  it.each([
    ['en', en],
    ['de', de],
  ])('says that no peer has a network, and what the user can do (%s)', async (language, texts) => {
    const networks = [{ peer: 'https://peer.example', network: null }];
    const error = new AntwayError('NOT_FOUND', 'no', { attempts, networks });
    const document = await (await respondTo(error, navigation(language))).text();
    expect(document).toContain(texts.network.none);
    expect(document).toContain('<code class="command">npm start -- --network</code>');
    expect(document).toContain(`<li><code>https://peer.example</code>: ${texts.network.store}</li>`);
    expect(document).toContain(`<a class="primary" href="/#peer=">${texts.network.addPeer}</a>`);
    const antTp = encodeURIComponent('anttp+http://127.0.0.1:18888');
    expect(document).toContain(`<a href="/#peer=${antTp}">${texts.network.connectAntTp[0]}</a>`);
  });

  it('offers the next step if all peers are silent, and claims nothing about their networks', async () => {
    const silence = [{ ...attempts[0], code: 'PEERS_UNREACHABLE' }] as const;
    for (const network of [undefined, null, connected]) {
      const networks = [{ peer: 'https://peer.example', network }];
      const error = new AntwayError('PEERS_UNREACHABLE', 'no', { attempts: silence, networks });
      const document = await (await respondTo(error, navigation())).text();
      expect(document).not.toContain(en.network.none);
      expect(document).not.toContain(en.network.incomplete);
      expect(document).toContain(`<code>https://peer.example</code>: ${en.network.noAnswer}`);
      expect(document).toContain('npm start -- --network');
      expect(document).toContain(`<a class="primary" href="">${en.tryAgain}</a>`);
      expect(document).toContain(`<a href="/#peer=">${en.network.addPeer}</a>`);
    }
  });

  it('offers another peer first if a peer answered, or there is none', async () => {
    for (const networks of [[], [{ peer: 'https://peer.example', network: undefined }]]) {
      const tried = networks.length > 0 ? attempts : [];
      const error = new AntwayError('PEERS_UNREACHABLE', 'no', { attempts: tried, networks });
      const document = await (await respondTo(error, navigation())).text();
      expect(document).toContain(`<a class="primary" href="/#peer=">${en.network.addPeer}</a>`);
    }
  });

  it('says of a peer that answered nothing only that, whatever it said earlier', async () => {
    const failed = { ...attempts[0], code: 'PEERS_UNREACHABLE' } as const;
    const tried = [failed, { ...failed, peer: 'https://busy.example', answered: true as const }];
    const hosts = ['https://peer.example', 'https://busy.example'];
    const networks = hosts.map((peer) => ({ peer, network: connected }));
    const error = new AntwayError('PEERS_UNREACHABLE', 'no', { attempts: tried, networks });
    const document = await (await respondTo(error, navigation())).text();
    expect(document).toContain(`<code>https://peer.example</code>: ${en.network.noAnswer}</li>`);
    expect(document).toContain('<code>https://busy.example</code>: <bdi>connected to');
  });

  it('names five peers and counts the rest', async () => {
    const networks = Array.from({ length: 5_000 }, (_, i) => ({
      peer: `https://p${i}.example`,
      network: null,
    }));
    const error = new AntwayError('NOT_FOUND', 'no', { networks });
    const document = await (await respondTo(error, navigation())).text();
    expect(document).toContain('https://p4.example');
    expect(document).not.toContain('https://p5.example');
    expect(document).toContain('and 4995 more');
  });

  it('has an icon, one primary action and folded details', async () => {
    for (const code of Object.keys(errorStatus)) {
      const networks = [{ peer: 'https://peer.example', network: null }];
      const error = new AntwayError(code as ErrorCode, hostile, {
        allow: 'GET',
        size: 1,
        attempts,
        networks,
      });
      const document = await (await respondTo(error, navigation())).text();
      expect(document.match(/class="icon"/g)).toHaveLength(1);
      expect(document.match(/<details/g)).toHaveLength(1);
      expect(document).not.toContain('<details open');
      expect(document.match(/class="primary"/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(document).toMatch(/<p class="actions"><a /);
    }
  });

  it('inside a site leads to its start page and lists the files that are there', async () => {
    const archive = archiveOf(['index.html', 'a b/c.txt', 'a b/<img>\u202e.txt', 'a b/d/e.txt']);
    const site = missingFrom(archive, 'a b/x/<b>\u202e.txt', '/name');
    const error = new AntwayError('NOT_FOUND', 'no', { address: 'ab', site });
    const document = await (await respondTo(error, navigation())).text();
    expect(document).toContain('This site has no file “a b/x/&lt;b&gt;.txt”.');
    expect(document).toContain(`<a class="primary" href="/name/">${en.siteStart}</a>`);
    const hrefs = Array.from(document.matchAll(/<li><a href="([^"]*)"/g), ([, href]) => href);
    expect(hrefs).toEqual(['/name/a%20b/d/', '/name/a%20b/%3Cimg%3E%E2%80%AE.txt', '/name/a%20b/c.txt']);
    expect(document).toContain('<bdi>&lt;img&gt;');
    expect(document).not.toContain('<img>');
  });

  it('inside a large site lists some files and counts the rest', async () => {
    const archive = archiveOf(Array.from({ length: 10_000 }, (_, i) => `${i}.txt`));
    const site = missingFrom(archive, '__proto__/x', '');
    expect(site.folder).toBe('');
    const error = new AntwayError('NOT_FOUND', 'no', { site });
    const document = await (await respondTo(error, navigation('de'))).text();
    expect(document.match(/<li><a href="\/\d+\.txt"/g)).toHaveLength(200);
    expect(document).toContain(de.andMore(9_800));
    expect(document).toContain('href="/"');
  });

  it('does not say so if a peer says nothing about networks, as AntTP does', async () => {
    const networks = [
      { peer: 'https://peer.example', network: null },
      { peer: 'anttp+http://127.0.0.1:18888', network: undefined },
    ];
    const error = new AntwayError('NOT_FOUND', 'no', { attempts, networks });
    const document = await (await respondTo(error, navigation())).text();
    expect(document).not.toContain(en.network.none);
    expect(document).not.toContain('npm start');
  });

  it('leads from a site on its own origin to the settings of the gateway', async () => {
    const error = new AntwayError('NOT_FOUND', 'no', { attempts, networks: [] });
    const site = `https://${Address.fromHex('ab'.repeat(32)).base32}.gateway.example/`;
    const request = Object.defineProperty(new Request(site), 'mode', { value: 'navigate' });
    const document = await (await respondTo(error, request)).text();
    expect(document).toContain('href="https://gateway.example/#peer="');
  });

  it.each<[string, number, string | null, string]>([
    ['connected', 12, null, 'connected to the network “&lt;b&gt;” through 12 nodes'],
    ['connected', 1, null, 'connected to the network “&lt;b&gt;” through 1 node<'],
    ['connecting', 0, null, 'still connecting to the network “&lt;b&gt;”'],
    [
      'disconnected',
      0,
      hostile,
      'not connected to the network “&lt;b&gt;”</bdi> <bdi lang="en">(&lt;script&gt;',
    ],
  ])('says what a peer’s network does: %s, %i nodes', async (state, peers, problem, text) => {
    const network = { name: '<b>', state, peers, since: null, problem };
    const networks = [
      { peer: 'https://peer.example', network },
      { peer: 'https://other.example', network: null },
    ];
    const error = new AntwayError('NOT_FOUND', 'no', { attempts, networks });
    const document = await (await respondTo(error, navigation())).text();
    expect(document).toContain(`<li><code>https://peer.example</code>: <bdi>${text}`);
    expect(document).toContain(`<li><code>https://other.example</code>: ${en.network.store}</li>`);
    const { searched, notSearched } = en.network;
    expect(document).toContain(state === 'connected' ? searched : notSearched);
    expect(document).not.toContain(hostile);
  });

  it('does not claim that the network was searched if a peer did not answer', async () => {
    const network = { name: 'devnet', state: 'connected', peers: 1, since: null, problem: null };
    const networks = [{ peer: 'https://peer.example', network }];
    const error = new AntwayError('PEERS_UNREACHABLE', 'no', { attempts, networks });
    const document = await (await respondTo(error, navigation())).text();
    expect(document).toContain(en.network.incomplete);
    expect(document).not.toContain(en.network.searched);
  });

  it.each([
    ['en', en],
    ['de', de],
  ])('says who has blocked an address: this gateway or the peers (%s)', async (language, texts) => {
    const byPeers = new AntwayError('DENIED', 'no', { attempts });
    const document = await (await respondTo(byPeers, navigation(language))).text();
    expect(document).toContain(`<h1>${texts.deniedByPeers.title}</h1>`);
    expect(document).toContain(`<p>${texts.deniedByPeers.about}</p>`);
    expect(document).toContain(`<a class="primary" href="">${texts.tryAgain}</a>`);
    const byGateway = await (await respondTo(new AntwayError('DENIED', 'no'), navigation(language))).text();
    expect(byGateway).toContain(`<h1>${texts.errors.DENIED}</h1>`);
    expect(byGateway).not.toContain(texts.tryAgain);
  });

  it.each([
    ['en', en],
    ['de', de],
  ])(
    'does not claim that no peer answered if one said that it has no record (%s)',
    async (language, texts) => {
      const [attempt] = attempts;
      const silent = { ...attempt!, peer: 'nodes', code: 'PEERS_UNREACHABLE' as const };
      const partly = [{ ...attempt!, code: 'NOT_FOUND' as const }, silent];
      const error = new AntwayError('PEERS_UNREACHABLE', 'no', { attempts: partly });
      const document = await (await respondTo(error, navigation(language))).text();
      expect(document).toContain(`<h1>${texts.absentSomewhere.title}</h1>`);
      expect(document).toContain(`<p>${texts.absentSomewhere.about}</p>`);
      const none = new AntwayError('PEERS_UNREACHABLE', 'no', { attempts: [silent] });
      const other = await (await respondTo(none, navigation(language))).text();
      expect(other).toContain(`<h1>${texts.errors.PEERS_UNREACHABLE}</h1>`);
    },
  );

  describe.each([
    ['en', en],
    ['de', de],
  ])('of an address that a peer has blocked (%s)', (language, texts) => {
    const connected = { name: 'mainnet', state: 'connected', peers: 3, since: null, problem: null };
    const denies = { ...attempts[0]!, peer: 'https://denies.example', code: 'DENIED' };
    const pageOf = async (networks: readonly object[]) => {
      const error = new AntwayError('DENIED', 'no', {
        attempts: [
          denies as Attempt,
          { ...denies, peer: 'https://other.example', code: 'NOT_FOUND' } as Attempt,
        ],
        networks,
      });
      return (await respondTo(error, navigation(language))).text();
    };

    it('offers another peer and another try, and does not count the network of the peer that refuses', async () => {
      const document = await pageOf([{ peer: 'https://denies.example', network: connected }]);
      expect(document).toContain(`<li><code>https://denies.example</code>: ${texts.network.blocks}</li>`);
      expect(document).toMatch(/<a class="primary" href="[^"]*#peer=">[^<]*<\/a><a href="">/);
      expect(document).toContain('npm start -- --network');
      expect(document).not.toContain(texts.network.searched);
      expect(document).not.toContain(texts.network.none);
    });

    it('offers another try if another peer has searched the network', async () => {
      const document = await pageOf([
        { peer: 'https://denies.example', network: connected },
        { peer: 'https://other.example', network: connected },
      ]);
      expect(document).toContain(`<a class="primary" href="">${texts.tryAgain}</a>`);
      expect(document).not.toContain('npm start');
    });
  });

  it('of an unsatisfiable range tells the size', async () => {
    const error = new AntwayError('BAD_RANGE', 'no', { size: 10 });
    const response = await respondTo(error, new Request(url));
    expect([response.status, response.headers.get('Content-Range')]).toEqual([416, 'bytes */10']);
  });

  it('has no body for HEAD', async () => {
    const response = await respondTo(
      new AntwayError('NOT_FOUND', 'no'),
      new Request(url, { method: 'HEAD' }),
    );
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('');
  });
});

describe('a page in a frame', () => {
  const links = (page: string) => page.match(/<a [^>]*>/g) ?? [];

  it('opens the shell in a tab, because no frame shows the shell', async () => {
    const inFrame = Object.defineProperty(navigation(), 'destination', { value: 'iframe' });
    const error = () => new AntwayError('BAD_ADDRESS', 'No.');
    expect(links(await (await respondTo(error(), inFrame)).text())).toEqual([
      '<a class="primary" href="/" target="_blank" rel="noopener">',
    ]);
    expect(links(await (await respondTo(error(), navigation())).text())).toEqual([
      '<a class="primary" href="/">',
    ]);
    const list = (isFramed: boolean) =>
      links(listingPage(archiveOf([]), '', [], 'a', { ...english, isFramed }, undefined, '/#read=a/'));
    expect(list(true)).toContain('<a href="/#read=a/" target="_blank" rel="noopener">');
    expect(list(false)).toContain('<a href="/#read=a/">');
  });
});

describe('the language of a page', () => {
  const error = new AntwayError('NOT_FOUND', 'The message.', {
    address: 'ab',
    stored: { file: null, whole: { stored: 1, total: 9 } },
  });

  it.each([
    ['de', 'de'],
    ['de-AT, en;q=0.5', 'de'],
    ['en;q=0.3, DE;q=0.8', 'de'],
    ['fr, pt-BR;q=0.9, de;q=0.1', 'de'],
    ['en-GB, de', 'en'],
    ['de;q=0, en', 'en'],
    ['fr', 'en'],
    ['', 'en'],
    ['*;;q=x,-', 'en'],
    [undefined, 'en'],
  ])('is for %s: %s, and caches are told', async (asked, language) => {
    const response = await respondTo(error, navigation(asked));
    expect(response.headers.get('Content-Language')).toBe(language);
    expect(response.headers.get('Vary')).toBe('Accept-Language');
    const document = await response.text();
    expect(document).toContain(`<html lang="${language}">`);
    expect(document).toContain(`<h1>${language === 'de' ? 'Nicht gefunden' : 'Not found'}</h1>`);
  });

  it('is that of all but the message, which says what it is in', async () => {
    const document = await (await respondTo(error, navigation('de'))).text();
    expect(document).toContain('<p lang="en">The message.</p>');
    expect(document).toContain('Davon ist 1 von 9 Chunks auf diesem Gerät gespeichert.');
    expect(document).toContain('Adresse <code>ab</code>');
  });

  it('has something to say of every code', () => {
    for (const { abouts } of [de, en]) {
      expect(Object.keys(abouts).toSorted()).toEqual(Object.keys(errorStatus).toSorted());
    }
  });

  it('does not touch what programs read', async () => {
    const request = new Request(url, { headers: { 'Accept-Language': 'de' } });
    const response = await respondTo(error, request);
    expect((await response.json()).message).toBe('The message.');
    expect(response.headers.has('Content-Language')).toBe(false);
  });

  it('writes a listing’s numbers in its own way', () => {
    const archive = new Archive([
      { path: 'a', size: 1_500_000, modified: 0, load: async () => memorySource(new Uint8Array()) },
    ]);
    const document = listingPage(archive, '', archive.folder('')!, 't', { texts: de, theme: null });
    expect(document).toContain('>1,5 MB<');
    expect(document).toContain('Inhalt von t');
    expect(document).toContain('0 Ordner, 1 Datei.');
  });
});

describe('the script of the progress page', () => {
  afterEach(() => void vi.useRealTimers());

  /** Runs the script as the page does, with these answers to its requests. */
  function run(...answers: (() => Promise<unknown>)[]) {
    vi.useFakeTimers();
    const seconds = { textContent: '2' };
    const document = { querySelector: () => seconds };
    const location = { href: url, reload: vi.fn() };
    const fetch = vi.fn((..._: unknown[]) => answers.shift()!());
    const listeners = new Map<string, () => void>();
    const listen = (name: string, listener: () => void) => void listeners.set(name, listener);
    const names = ['document', 'location', 'fetch', 'addEventListener'];
    new Function(...names, openOnceFound.text)(document, location, fetch, listen);
    return { seconds, location, fetch, leave: listeners.get('beforeunload')! };
  }
  const waiting = async () => new Response(null, { headers: { 'Antway-Waiting': '1' } });

  it('asks again while the worker waits, then drops the body and reloads', async () => {
    const answer = new Response(new ReadableStream());
    const cancel = vi.spyOn(answer.body!, 'cancel');
    const { location, fetch } = run(waiting, async () => answer);
    await vi.advanceTimersByTimeAsync(0);
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(fetch).toHaveBeenCalledWith(url, { headers: { 'Antway-As-Data': 'progress' } });
    expect(cancel).toHaveBeenCalledBefore(location.reload);
  });

  it('asks again 2 s after a rejected request, because a reload would keep a user here who leaves', async () => {
    const rejected = () => Promise.reject(new TypeError('no worker'));
    const { location, fetch } = run(rejected, rejected, async () => new Response('x'));
    await vi.advanceTimersByTimeAsync(3_999);
    expect(fetch).toHaveBeenCalledTimes(2);
    expect(location.reload).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(fetch).toHaveBeenCalledTimes(3);
    expect(location.reload).toHaveBeenCalledOnce();
  });

  it('waits for ten seconds if the user is leaving', async () => {
    const rejected = () => Promise.reject(new TypeError('no worker'));
    const { fetch, leave } = run(rejected, async () => new Response('x'));
    leave();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(fetch).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(1);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it('reloads after five rejected requests in a row, so that the browser shows the reason', async () => {
    const rejected = () => Promise.reject(new TypeError('a redirect to another origin'));
    const four = [rejected, rejected, rejected, rejected];
    const { location, fetch } = run(...four, waiting, ...four, rejected);
    await vi.advanceTimersByTimeAsync(17_999);
    expect(fetch).toHaveBeenCalledTimes(10);
    expect(location.reload).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(fetch).toHaveBeenCalledTimes(10);
    expect(location.reload).toHaveBeenCalledOnce();
  });

  it('stops the counter before it reloads, because a download leaves the page open', async () => {
    const { seconds } = run(async () => new Response('x'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seconds.textContent).toBe('2');
  });
});
