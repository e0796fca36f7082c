import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { DataMap, encodeDataMap } from '../../src/self-encryption/data-map.ts';
import {
  type Answer,
  errorCode,
  expect,
  fetchIn,
  type Gateway,
  type HostConfig,
  test,
  trustSite,
} from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive, sha256 } from '../support/tar.ts';

const denied = 'de'.repeat(32);
const text = 'Two thousand bytes of text. '.repeat(72).slice(0, 2_000);
const marker = (where: string) => `<script>document.title = 'ran in ${where}'</script>`;

let peer: PeerProcess;
let site: string;
let open: (config?: Partial<HostConfig>) => Promise<Gateway>;

test.beforeEach(async ({ startPeer, openGateway, folder }) => {
  peer = await startPeer();
  site = await publish(
    makeTarchive(folder, {
      'index.html': `<title>quiet</title><p>front page</p>${marker('html')}<script src="a.js"></script>`,
      'a.js': 'document.title = "ran in a file"',
      'picture.svg': `<svg xmlns="http://www.w3.org/2000/svg"><title>quiet</title>${marker('svg')}</svg>`,
      'frame.html': '<iframe src="index.html"></iframe><iframe src="/-/stats"></iframe>',
      'text.txt': text,
      'style.css': 'p { color: red }',
      'data.json': '{"a": 1}',
      'folder/no-extension': '%PDF-1.7 and so on',
      'large.bin': noise(5, 3_000_000),
    }),
    peer,
  );
  open = (config) => openGateway({ peers: [peer.url], denied: [denied], ...config });
});

test('HEAD answers as GET does, without the body', async () => {
  const gateway = await open();
  for (const path of ['text.txt', 'large.bin', 'folder/', '']) {
    const get = await gateway.fetch(`/${site}/${path}`);
    const head = await gateway.fetch(`/${site}/${path}`, { method: 'HEAD' });
    expect([head.status, head.size]).toEqual([200, 0]);
    const { 'server-timing': _, ...expected } = get.headers;
    expect(head.headers).toMatchObject(expected);
    expect(head.headers['content-length']).toBe(String(get.size));
  }
});

test('every answer states its cost: whole, part, none, not changed, missing, refused', async () => {
  const gateway = await open();
  const { etag = '' } = (await gateway.fetch(`/${site}/text.txt`)).headers;
  const answers: [status: number, path: string, options?: Parameters<typeof gateway.fetch>[1]][] = [
    [200, 'text.txt'],
    [206, 'text.txt', { headers: { Range: 'bytes=0-0' } }],
    [200, 'text.txt', { method: 'HEAD' }],
    [304, 'text.txt', { headers: { 'If-None-Match': etag }, cache: 'no-store' }],
    [416, 'text.txt', { headers: { Range: 'bytes=9999-' } }],
    [404, 'none.txt'],
    [405, 'text.txt', { method: 'POST' }],
  ];
  for (const [status, path, options] of answers) {
    const answer = await gateway.fetch(`/${site}/${path}`, options);
    expect(answer.status).toBe(status);
    expect(answer.headers['server-timing']).toMatch(
      /^resolve;dur=.+, fetch;dur=.+, decrypt;dur=.+, total;dur=.+, chunks;desc=/,
    );
  }
});

test('a single byte range is answered with just those bytes', async () => {
  const gateway = await open();
  const whole = Buffer.from(text);
  const cases: [range: string, status: number, from: number, to: number][] = [
    ['bytes=0-0', 206, 0, 1],
    ['bytes=10-19', 206, 10, 20],
    ['bytes=1990-', 206, 1990, 2000],
    ['bytes=-7', 206, 1993, 2000],
    ['bytes=-5000', 206, 0, 2000],
    ['bytes=1999-9999', 206, 1999, 2000],
    ['bytes=0-0,5-9', 200, 0, 2000],
    ['lines=1-2', 200, 0, 2000],
  ];
  for (const [range, status, from, to] of cases) {
    const answer = await gateway.fetch(`/${site}/text.txt`, { headers: { Range: range } });
    expect([range, answer.status, answer.text]).toEqual([range, status, whole.subarray(from, to).toString()]);
    expect(answer.headers['content-length']).toBe(String(to - from));
    if (status === 206) expect(answer.headers['content-range']).toBe(`bytes ${from}-${to - 1}/2000`);
  }
  const past = await gateway.fetch(`/${site}/text.txt`, { headers: { Range: 'bytes=2000-' } });
  expect([past.status, past.headers['content-range'], errorCode(past)]).toEqual([
    416,
    'bytes */2000',
    'BAD_RANGE',
  ]);
});

test('a range that is streamed is as exact as one that is not', async () => {
  const gateway = await open();
  const large = noise(5, 3_000_000);
  const answer = await gateway.fetch(`/${site}/large.bin`, { headers: { Range: 'bytes=100001-2900000' } });
  expect([answer.status, answer.size]).toEqual([206, 2_800_000]);
  expect(answer.sha256).toBe(sha256(large.subarray(100_001, 2_900_001)));
});

test('the type comes from the name, or from the bytes if the name has no known extension', async () => {
  const gateway = await open();
  const types = {
    'text.txt': 'text/plain; charset=utf-8',
    'style.css': 'text/css; charset=utf-8',
    'a.js': 'text/javascript; charset=utf-8',
    'data.json': 'application/json; charset=utf-8',
    'picture.svg': 'image/svg+xml; charset=utf-8',
    'index.html': 'text/html; charset=utf-8',
    'folder/no-extension': 'application/pdf',
    'large.bin': 'application/octet-stream',
  };
  for (const [path, type] of Object.entries(types)) {
    const { headers } = await gateway.fetch(`/${site}/${path}`);
    expect([path, headers['content-type'], headers['x-content-type-options']]).toEqual([
      path,
      type,
      'nosniff',
    ]);
  }
});

test('a folder is listed as a page for users and as JSON for programs', async () => {
  const gateway = await open();
  const page = await gateway.openPage(`/${site}/folder`);
  await expect(page).toHaveURL(`${gateway.url}/${site}/folder/`);
  await expect(page.getByRole('heading')).toHaveText('Contents of folder/');
  const expected = [
    { path: 'folder/no-extension', display: 'no-extension', modified: 0, size: 18, path_type: 'FILE' },
  ];
  for (const answer of [
    await gateway.fetch(`/${site}/folder/?format=json`),
    await gateway.fetch(`/${site}/folder/`, { headers: { Accept: 'application/json' } }),
  ]) {
    expect(answer.headers['content-type']).toContain('application/json');
    expect(JSON.parse(answer.text)).toEqual(expected);
  }
});

test('?format=raw returns a record’s own bytes', async () => {
  const gateway = await open();
  const raw = await gateway.fetch(`/${site}?format=raw`);
  const record = await (await fetch(`${peer.url}/chunk/${site}`)).arrayBuffer();
  expect(raw.sha256).toBe(sha256(new Uint8Array(record)));
  expect(raw.headers['content-type']).toBe('application/octet-stream');
});

test('every error is a page for users and JSON for programs, with its status and code', async () => {
  const gateway = await open();
  const unknownVersion = encodeDataMap(mapOf(3, 100)).with(1, 2);
  const tooLarge = encodeDataMap(mapOf(20, limits.plaintextChunkBytes, 1));
  const wrongKeys = encodeDataMap(await mapWithWrongKeys());
  const cases: [path: string, status: number, code: string][] = [
    [`/${'0'.repeat(63)}`, 400, 'BAD_ADDRESS'],
    [`/${site}/a%2Fb`, 400, 'BAD_ADDRESS'],
    [`/${'cd'.repeat(32)}`, 404, 'NOT_FOUND'],
    [`/${site}/no/such/member`, 404, 'NOT_FOUND'],
    [`/${denied}/`, 451, 'DENIED'],
    [`/${await putRecord(unknownVersion)}`, 501, 'UNSUPPORTED'],
    [`/${site}?format=pdf`, 501, 'UNSUPPORTED'],
    [`/${await putRecord(wrongKeys)}`, 502, 'CORRUPT'],
    [`/${await putRecord(tooLarge)}`, 507, 'TOO_LARGE'],
  ];
  const page = await gateway.shell.context().newPage();
  for (const [path, status, code] of cases) {
    const answer = await gateway.fetch(path);
    expect([path, answer.status, errorCode(answer)]).toEqual([path, status, code]);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.headers['cache-control']).toBe('no-store');

    const response = await page.goto(gateway.url + path);
    expect([path, response!.status()]).toEqual([path, status]);
    await expect(page.getByText(`Code ${code}`)).toBeVisible();
  }
});

test('content can only be read', async () => {
  const gateway = await open();
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const answer = await gateway.fetch(`/${site}/text.txt`, { method });
    expect([answer.status, errorCode(answer)]).toEqual([405, 'METHOD']);
    expect(answer.headers.allow).toContain('GET, HEAD');
  }
});

test.describe('a site that is not trusted', () => {
  test('runs no scripts in its pages, its pictures or its script files', async () => {
    const gateway = await open();
    const page = await gateway.openPage(`/${site}/`);
    await expect(page.getByText('front page')).toBeVisible();
    await expect(page).toHaveTitle('quiet');
    await page.goto(`${gateway.url}/${site}/picture.svg`);
    expect(await page.evaluate(() => document.title)).toBe('quiet');
    await page.goto(`${gateway.url}/${site}/frame.html`);
    await expect(page.frameLocator('iframe').first().getByText('front page')).toBeVisible();
    expect(await page.frames()[1]!.evaluate(() => document.title)).toBe('quiet');
  });

  test('runs them once the user trusts it', async () => {
    const gateway = await open();
    const page = await gateway.shell.context().newPage();
    await page.goto(`${gateway.url}/${site}/`);
    await trustSite(page);
    await expect(page).toHaveTitle('ran in a file');
    await page.goto(`${gateway.url}/${site}/picture.svg`);
    await expect.poll(() => page.evaluate(() => document.title)).toBe('ran in svg');
  });
});

test.describe('a site that the host trusts', () => {
  test('runs scripts without a question', async () => {
    const gateway = await open({ trusted: [site] });
    const page = await gateway.openPage(`/${site}/`);
    await expect(page).toHaveTitle('ran in a file');
  });

  test('cannot use the gateway’s own endpoints', async () => {
    const gateway = await open({ trusted: [site] });
    const page = await gateway.openPage(`/${site}/frame.html`);
    const refused = ({ status, text }: Answer) => [status, JSON.parse(text).code];
    for (const name of ['stats', 'activity', 'cache', 'peers', 'config', 'sites', 'trust', 'health']) {
      expect(refused(await fetchIn(page, `/-/${name}`))).toEqual([403, 'REFUSED']);
    }
    expect(refused(await fetchIn(page, `/-/trust?address=${site}`, { method: 'DELETE' }))).toEqual([
      403,
      'REFUSED',
    ]);
    // Nor read them in a frame.
    const frame = page.frames().find((frame) => frame.url().includes('/-/'));
    expect((await frame?.content()) ?? '').not.toContain('startedAt');
    // The shell may.
    expect((await gateway.fetch('/-/stats')).status).toBe(200);
  });

  test('cannot register a worker on the gateway’s origin', async () => {
    const gateway = await open({ trusted: [site] });
    const page = await gateway.openPage(`/${site}/`);
    const outcome = await page.evaluate(
      (script) =>
        navigator.serviceWorker.register(script).then(
          () => 'registered',
          () => 'refused',
        ),
      `/${site}/a.js`,
    );
    expect(outcome).toBe('refused');
  });
});

/** A data map of `count` parts that exist nowhere. */
function mapOf(count: number, partBytes: number, childLevel = 0): DataMap {
  return new DataMap(
    noise(3, 32 * count),
    noise(4, 32 * count),
    new Uint32Array(count).fill(partBytes),
    childLevel,
  );
}

/** A data map whose chunks exist, but do not open with its keys. */
async function mapWithWrongKeys(): Promise<DataMap> {
  const { bytes } = Address.fromHex(await putRecord(noise(6, 1_000)));
  return new DataMap(Buffer.concat([bytes, bytes, bytes]), noise(4, 96), Uint32Array.of(1_000, 1_000, 1_000));
}

async function putRecord(bytes: Uint8Array): Promise<string> {
  const address = Buffer.from((await loadBlake3())(bytes)).toString('hex');
  await peer.put(address, bytes);
  return address;
}
