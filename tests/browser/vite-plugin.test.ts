import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '../support/chromium.ts';
import { freePort } from '../support/loopback-server.ts';
import { PackageProject, viteVersions } from '../support/package-project.ts';
import { publish } from '../support/publish.ts';
import { StaticHost } from '../support/static-host.ts';
import { makeTarchive } from '../support/tarchive.ts';

// One project has all packages, and one version of Vite after another.
test.describe.configure({ mode: 'default' });

let project: PackageProject;
test.beforeAll(async () => {
  test.setTimeout(180_000);
  project = await PackageProject.create();
  writeFileSync(join(project.folder, 'package.json'), '{"type":"module"}');
});
test.afterAll(() => project?.remove());

const vite = (...args: string[]) => [join(project.folder, 'node_modules/vite/bin/vite.js'), ...args];

/** Builds, and returns the files at the top of the output. */
async function build(folder: string, ...args: string[]): Promise<string[]> {
  const options = { cwd: folder };
  await promisify(execFile)(process.execPath, vite('build', '--outDir', 'out', ...args), options);
  return readdirSync(join(folder, 'out')).sort();
}

const files = [
  expect.stringMatching(/^antway-brotli-.+\.wasm$/),
  expect.stringMatching(/^antway-libsodium-.+\.wasm$/),
  'antway-sw.js',
];

for (const version of Object.keys(viteVersions) as (keyof typeof viteVersions)[]) {
  // The older versions take the same plug-in.
  const tag = version === 'Vite 8' ? [] : '@full';
  test(`a site built by ${version} has the worker at its base, and shows content`, { tag }, async ({
    page,
    startPeer,
  }) => {
    const peer = await startPeer();
    const site = await publish(await makeTarchive({ 'a.txt': 'abcdef' }), peer);
    const folder = project.addVite(version);
    expect(await build(folder)).toEqual([...files, 'assets', 'index.html']);
    // The plug-in adds nothing to the page.
    const html = readFileSync(join(folder, 'out/index.html'), 'utf8');
    expect(html.match(/<(script|link)\b/g)).toEqual(['<script']);
    expect(html).not.toContain('antway');
    await using host = await StaticHost.start({ folders: [join(folder, 'out')], base: '/sub/' });
    await page.goto(`${host.url}/sub/#${peer.url},${site}`);
    await expect(page.locator('#text')).toHaveText('abcdef');
    expect(host.requests).toContain('/sub/antway-sw.js');
  });

  test(`the development server of ${version} has the worker, and the page shows content`, {
    tag: '@full',
  }, async ({ page, startPeer }) => {
    const peer = await startPeer();
    const site = await publish(await makeTarchive({ 'a.txt': 'abcdef' }), peer);
    const folder = project.addVite(version);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/sub/`;
    const args = vite('--host', '127.0.0.1', '--port', String(port), '--strictPort');
    const server = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
    try {
      const script = () => fetch(`${url}antway-sw.js?assets=x`, { method: 'HEAD' });
      await expect.poll(() => script().then(({ status }) => status, String)).toBe(200);
      const headers = Object.fromEntries((await script()).headers);
      const code = readFileSync(join(project.installed('sw'), 'antway-sw.js'), 'utf8');
      expect(headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'content-length': String(Buffer.byteLength(code)),
        'cache-control': 'no-cache',
      });
      const wasm = readdirSync(project.installed('sw')).find((name) => name.endsWith('.wasm'))!;
      const answer = await fetch(url + wasm);
      expect(answer.headers.get('content-type')).toBe('application/wasm');
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(
        readFileSync(join(project.installed('sw'), wasm)),
      );
      // Neither other methods nor other files of the package.
      expect((await fetch(`${url}antway-sw.js`, { method: 'POST' })).status).toBe(404);
      expect(await (await fetch(`${url}workbox.js`)).text()).not.toContain('antwayRoute');

      await page.goto(`${url}#${peer.url},${site}`);
      await expect(page.locator('#text')).toHaveText('abcdef');
    } finally {
      await end(server);
    }
  });

  test(`${version} writes source maps of the worker on request, and no worker for a server`, {
    tag: '@full',
  }, async () => {
    const folder = project.addVite(version);
    expect(await build(folder, '--base', './', '--sourcemap')).toEqual([
      ...files,
      'antway-sw.js.map',
      'assets',
      'index.html',
    ]);
    expect(await build(folder, '--ssr', 'server.ts')).toEqual(['server.js']);
  });
}

async function end(server: ChildProcess): Promise<void> {
  const closed = once(server, 'close');
  server.kill();
  await closed;
}
