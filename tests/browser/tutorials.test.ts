import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, openWithoutScripts, test } from '../support/chromium.ts';
import { freePort } from '../support/loopback-server.ts';
import { fromRoot } from '../support/paths.ts';
import { codeOf, Reader, type Running } from '../support/tutorial.ts';
import { viewed } from '../support/viewer.ts';

/**
 * `npm start` without its builds, which the tests need too. A test with a copy of the project runs `npm start` as it is
 * written.
 */
const startCommand = `node --eval "import('./src/cli/serve.mjs').then(({ serve }) => serve())"`;

const gatewayLine = /Gateway +http:\/\/antway\.localhost:(\d+)\//;

/** Starts the gateway as in the first tutorial. @returns its port. */
async function startGateway(reader: Reader): Promise<{ port: string; gateway: Running }> {
  expect(codeOf('open-a-site', 'sh')).toEqual(['npm start\n']);
  reader.set({ ANTWAY_DATA: join(reader.folder, 'data'), ANTWAY_PORT: '0' });
  const gateway = reader.start(startCommand);
  await gateway.said(/Press Ctrl-C to stop\./);
  const port = (await gateway.said(gatewayLine))[1]!;
  // The tutorials ask for `--peer` if the port is not 8080.
  reader.set({ ANTWAY_PEERS: `http://antway.localhost:${port}` });
  return { port, gateway };
}

/** The address and the URL that the command `publish` prints last. */
function published(output: string): { address: string; url: string } {
  const [address, url] = output.trimEnd().split('\n').slice(-2);
  expect(address).toMatch(/[0-9a-f]{64}$/);
  return { address: /[0-9a-f]{64}$/.exec(address!)![0], url: /http:\S+/.exec(url!)![0] };
}

test('every tutorial is tested', () => {
  expect(readdirSync(fromRoot('docs/tutorials')).sort()).toEqual([
    'embed-a-picture.md',
    'open-a-site.md',
    'pay-on-a-test-chain.md',
    'publish-a-folder.md',
    'run-a-community-gateway.md',
    'run-a-peer.md',
  ]);
});

test('Publish a folder: its commands publish a site, and read it back', { tag: '@full' }, async ({
  page,
}) => {
  await using reader = Reader.inLinkedProject();
  const { port } = await startGateway(reader);
  const [make, publish, read, ...others] = codeOf('publish-a-folder', 'sh');
  expect(others).toEqual([]);

  await reader.run(make!);
  const first = published(await reader.run(publish!));
  expect(first.url).toContain(`:${port}/`);
  await page.goto(first.url);
  await openWithoutScripts(page);
  await expect(page.getByRole('heading', { name: 'Hello' })).toBeVisible();

  expect(published(await reader.run(publish!)).address).toBe(first.address);
  writeFileSync(join(reader.folder, 'my-site/notes.txt'), 'The tide is high at noon.\n');
  expect(published(await reader.run(publish!)).address).not.toBe(first.address);

  const output = await reader.run(read!.replaceAll('<address>', first.address));
  expect(output).toContain('index.html');
  expect(output).toContain('The tide is low at noon.');
});

test('Embed a picture: its page shows the crab, and again without the gateway', { tag: '@full' }, async ({
  page,
}) => {
  await using reader = Reader.inLinkedProject();
  const { port, gateway } = await startGateway(reader);
  const [copy, serve, ...others] = codeOf('embed-a-picture', 'sh');
  const [html, ...otherPages] = codeOf('embed-a-picture', 'html');
  expect([...others, ...otherPages]).toEqual([]);

  await reader.run(copy!);
  expect(html).toContain('http://127.0.0.1:8080"');
  writeFileSync(join(reader.folder, 'my-page/index.html'), html!.replace(':8080', `:${port}`));
  const pagePort = await freePort();
  expect(serve).toContain('http.server 8000 ');
  reader.start(serve!.replace('8000', String(pagePort)));
  const url = `http://127.0.0.1:${pagePort}/`;
  await expect
    .poll(() =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    .toBe(true);
  await page.goto(url);
  const crab = page.getByRole('img', { name: 'A shore crab' });
  const width = () => crab.evaluate((image: HTMLImageElement) => image.naturalWidth);
  await expect.poll(width).toBe(720);

  await gateway.stop();
  await page.reload();
  await expect.poll(width).toBe(720);
});

test('Run a peer: its commands run a peer, publish to it and read its counters', { tag: '@full' }, async ({
  page,
}) => {
  await using reader = Reader.inLinkedProject();
  const [builds, serve, info, publish, metrics, ...others] = codeOf('run-a-peer', 'sh');
  expect(others).toEqual([]);
  // `npm test` has run the same builds.
  expect(builds!.trim().split('\n')).toEqual([
    expect.stringMatching(/^pnpm_config_pm_on_fail=ignore npx pnpm@[\d.]+ install --frozen-lockfile$/),
    'npm run build',
    'cargo build --release --locked --manifest-path peer/Cargo.toml',
  ]);
  const port = String(await freePort());
  const here = (command = '') => {
    expect(command).toContain(':8090');
    return command.replaceAll(':8090', `:${port}`);
  };

  const peer = reader.start(here(serve));
  await peer.said(/^\{.*\}$/m);
  expect(JSON.parse(await reader.run(here(info)))).toMatchObject({ webTransport: { port: Number(port) } });
  const { url } = published(await reader.run(here(publish)));
  const chunks = await reader.run('find my-chunks/chunks -type f');
  expect(chunks.trim().split('\n')).toHaveLength(4);
  await page.goto(url);
  await openWithoutScripts(page);
  await expect(page).toHaveTitle(/Low Tide/);
  expect(await reader.run(here(metrics))).toMatch(/^antway_peer_answers_total\{.*\} [1-9]/m);
  await peer.stop();
});

test('A gateway for your community: the shell accepts all commands, and the files that they name exist', () => {
  const commands = codeOf('run-a-community-gateway', 'sh');
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) execFileSync('sh', ['-n', '-c', command]);
  const named = commands.flatMap((command) =>
    Array.from(command.matchAll(/(?<![\w/.-])(?:deploy|peer)\/[\w./-]+/g), ([path]) => path),
  );
  expect(named).toContain('deploy/compose.yaml');
  const created = ['deploy/.env', 'peer/target/release/antway-peer'];
  expect(named.filter((path) => !created.includes(path) && !existsSync(fromRoot(path)))).toEqual([]);
});

test('Open a site: in a clone, npm start needs only Node', { tag: '@full' }, async ({ page }) => {
  test.setTimeout(300_000);
  await using reader = Reader.inClone();
  // Node may be in the same folder as cargo.
  const programs = join(reader.folder, '.programs');
  mkdirSync(programs);
  for (const name of ['node', 'npm', 'npx']) {
    symlinkSync(await reader.run(`printf %s "$(command -v ${name})"`), join(programs, name));
  }
  const others = (process.env.PATH ?? '').split(delimiter).filter((path) => !existsSync(join(path, 'cargo')));
  reader.set({ PATH: [programs, ...others].join(delimiter), ANTWAY_PORT: '0' });
  await expect(reader.run('cargo --version')).rejects.toThrow('not found');

  const [start] = codeOf('open-a-site', 'sh');
  const startedAt = performance.now();
  const gateway = reader.start(start!);
  await gateway.said(/Without Rust, WebTransport and the Autonomi network are missing/);
  console.log(`npm start took ${Math.round((performance.now() - startedAt) / 1000)} s`);
  const port = (await gateway.said(gatewayLine))[1]!;
  await page.goto(`http://antway.localhost:${port}/`);
  await page.getByRole('link', { name: 'Open the sample site' }).click();
  await expect(viewed(page).getByRole('heading', { level: 1 })).toBeVisible();
  // The tutorial has the same address.
  const [address] = codeOf('open-a-site', 'text')
    .at(-1)!
    .match(/[0-9a-f]{64}/)!;
  await gateway.said(new RegExp(`:${port}/${address}/`));
});

// The nodes take long to compile. `npm run test:network` follows the tutorial.
test('Pay on a test chain: its commands and options exist', async () => {
  const [start, , pointer, ...others] = codeOf('pay-on-a-test-chain', 'sh');
  expect([start, others]).toEqual(['npm run network:local\n', []]);
  const { scripts } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'));
  expect(existsSync(fromRoot(scripts['network:local'].replace(/^.*\.\./, '')))).toBe(true);
  await using reader = Reader.inLinkedProject();
  for (const command of ['publish', 'pointer']) {
    const help = await reader.run(`node dist-cli/antway.js ${command} --help`);
    for (const option of pointer!.match(/--\w+/g)!)
      if (option !== '--key') expect(help).toContain(`${option} `);
  }
});
