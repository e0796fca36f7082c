import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/chromium.ts';
import { publishContent } from '../support/embedding-site.ts';
import { PackageProject } from '../support/package-project.ts';
import { fromRoot } from '../support/paths.ts';
import { StaticHost } from '../support/static-host.ts';

// One project has all packages.
test.describe.configure({ mode: 'default' });

let packages: PackageProject;
test.beforeAll(async () => {
  test.setTimeout(180_000);
  packages = await PackageProject.create();
});
test.afterAll(() => packages?.remove());

interface Outcome {
  code: number | null;
  stdout: Buffer;
  stderr: string;
}

/** An example in a folder of its own. */
class Example {
  readonly folder: string;

  constructor(name: string) {
    this.folder = join(packages.folder, 'examples', name);
    const source = fromRoot(`examples/${name}`);
    // Without what was installed and built there.
    const ignored = readFileSync(join(source, '.gitignore'), 'utf8').split('\n').filter(Boolean);
    const filter = (path: string) => !ignored.some((name) => `${path}/`.startsWith(join(source, name)));
    cpSync(source, this.folder, { recursive: true, filter });
  }

  /** Gives it the packages from their tarballs, and those that this project has anyway. */
  link(): this {
    const { devDependencies } = JSON.parse(readFileSync(join(this.folder, 'package.json'), 'utf8'));
    const modules = join(this.folder, 'node_modules');
    mkdirSync(join(modules, '.bin'), { recursive: true });
    symlinkSync(join(packages.folder, 'node_modules/@antway'), join(modules, '@antway'), 'dir');
    for (const dependency of Object.keys(devDependencies ?? {})) {
      symlinkSync(fromRoot(`node_modules/${dependency}`), join(modules, dependency), 'dir');
    }
    symlinkSync(fromRoot('node_modules/.bin/vite'), join(modules, '.bin/vite'));
    return this;
  }

  /** Installs its packages from the registry, and ours from their tarballs. */
  async install(...names: string[]): Promise<void> {
    const tarballs = names.map((name) => packages.tarball(name));
    const { code, stderr } = await this.run('', 'npm', 'install', '--no-audit', '--no-fund', ...tarballs);
    expect(code, stderr).toBe(0);
  }

  async run(peer: string, program: string, ...args: string[]): Promise<Outcome> {
    // Without npm's settings for this project.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
    const child = spawn(program, args, {
      cwd: this.folder,
      env: { ...env, ANTWAY_PEER: peer },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const pieces: Buffer[] = [];
    let stderr = '';
    child.stdout.on('data', (piece) => pieces.push(piece));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const [code] = await once(child, 'close');
    return { code, stdout: Buffer.concat(pieces), stderr };
  }

  /** Runs the example's own build, and serves what it makes. */
  async serve(peer: string): Promise<StaticHost> {
    const { code, stdout, stderr } = await this.run(peer, 'npm', 'run', 'build');
    expect(code, `${stdout}${stderr}`).toBe(0);
    return StaticHost.start({ folders: [join(this.folder, 'dist')] });
  }
}

async function expectCrab(page: Page): Promise<void> {
  const crab = page.getByRole('img', { name: 'A shore crab' });
  await expect.poll(() => crab.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(720);
}

test('the list of examples names each of them, and its test', () => {
  const readme = readFileSync(fromRoot('examples/README.md'), 'utf8');
  const folders = readdirSync(fromRoot('examples')).filter((name) => name !== 'README.md');
  const rows = Array.from(readme.matchAll(/^\| \[([\w-]+)\]\(\1\/\) \|.*`(tests\/[\w/.-]+)`/gm));
  expect(rows.map(([, name]) => name).sort()).toEqual(folders.sort());
  for (const [, , path] of rows) expect(existsSync(fromRoot(path!)), path).toBe(true);
});

test('the example with Vite shows a picture and a text, and pins the site', { tag: '@full' }, async ({
  page,
  startPeer,
}) => {
  const peer = await startPeer();
  await publishContent(peer);
  await using host = await new Example('vite').link().serve(peer.url);
  await page.goto(`${host.url}/`);
  await expectCrab(page);
  await expect(page.locator('#text')).toHaveText('Tides · Low Tide');
  await page.getByRole('button').click();
  await expect(page.getByRole('status')).toHaveText('The site is in this browser.');
});

test('the example with Workbox shows a picture, and opens without its host and a peer', {
  tag: '@full',
}, async ({ page, startPeer }) => {
  const peer = await startPeer();
  await publishContent(peer);
  const host = await new Example('workbox-pwa').link().serve(peer.url);
  const { url } = host;
  await page.goto(`${url}/`);
  await expectCrab(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await host.stop();
  await peer.kill();
  await page.goto(`${url}/some/route`);
  await expect(page.getByRole('heading', { name: 'Antway with Workbox' })).toBeVisible();
  await expectCrab(page);
});

test('the example for Node streams a file of a site into a pipe, and has an exit code', {
  tag: '@full',
}, async ({ startPeer }) => {
  const peer = await startPeer();
  const { site, picture } = await publishContent(peer);
  const example = new Example('node-stream').link();
  const crab = readFileSync(fromRoot('tests/sites/sample/assets/img/crab.png'));
  for (const content of [`${site}/assets/img/crab.png`, `ant://${picture}`]) {
    const { code, stdout, stderr } = await example.run(peer.url, process.execPath, 'stream.mjs', content);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`of ${crab.length} bytes`) });
    expect(stdout.equals(crab)).toBe(true);
  }
  const absent = await example.run(peer.url, process.execPath, 'stream.mjs', 'ab'.repeat(32));
  expect(absent).toMatchObject({ code: 1, stderr: expect.stringContaining('(NOT_FOUND)') });
  expect((await example.run(peer.url, process.execPath, 'stream.mjs')).code).toBe(2);
});

test('the example with Astro shows a picture and a link', { tag: '@full' }, async ({ page, startPeer }) => {
  test.setTimeout(300_000);
  const peer = await startPeer();
  const { site } = await publishContent(peer);
  const example = new Example('astro');
  await example.install('page', 'sw');
  await using host = await example.serve(peer.url);
  await page.goto(`${host.url}/`);
  await expectCrab(page);
  await page.getByRole('link', { name: 'The site' }).click();
  await expect(page).toHaveURL(`${host.url}/ant/${site}/`);
  await expect(page).toHaveTitle(/Low Tide/);
});
