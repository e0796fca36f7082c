// The last step of `npm start`, after all builds. Plain JavaScript, see setup.mjs.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { serveExample } from './example-site.mjs';
import { built, fail, root, SetupError, stateFolder } from './setup.mjs';

const defaultPort = 8080;
/** Browsers resolve this name, and every name below it, to this machine. */
const name = 'antway.localhost';
/** The peer's time to finish its work after SIGTERM. */
const stopTimeoutMs = 10_000;
const parentCheckMs = 500;
/** Holds the peer's chunks and the page's configuration. */
const dataFolder = resolve(process.env.ANTWAY_DATA || stateFolder);
const configFile = join(dataFolder, 'antway.json');

/**
 * Runs the peer on loopback with the built page and the sample site, and an example site that embeds the sample site's
 * content, until the peer ends or a signal arrives. All builds must exist. With `network`, the peer connects to it.
 * @throws SetupError when the peer cannot start. A later error ends the process.
 */
export async function serve({ network } = {}) {
  // Browsers may resolve the name to either loopback address.
  const hosts = (await isFree(0, '::1')) ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];
  const port = await choosePort(hosts);
  const addresses = hosts.map((host) => `${host}:${port}`).join(',');
  await mkdir(dataFolder, { recursive: true });
  // The peer requires this file at its start, before the sample site has an address. Do not overwrite an existing file:
  // another `npm start` may use it. In that case, the peer below fails to start.
  if (!existsSync(configFile)) await writeConfig({ peers: ['/'] });
  const peer = spawn(
    network ? built.networkPeer : built.peer,
    [
      'serve',
      ...['--http', addresses],
      ...['--webtransport', addresses],
      ...['--store', join(dataFolder, 'store')],
      '--allow-open-writes',
      ...['--web', built.shell],
      ...['--web-config', configFile],
      ...(network ? ['--network', network] : []),
    ],
    // With its own process group, the peer gets no Ctrl-C. This process stops the peer in an orderly way.
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: process.platform !== 'win32' },
  );

  let isStopping = false;
  const stop = () => {
    // On Ctrl-C, the signal can arrive twice: from the terminal and from npm. Ignore the second one.
    if (isStopping) return;
    isStopping = true;
    peer.kill('SIGTERM');
    setTimeout(() => peer.kill('SIGKILL'), stopTimeoutMs).unref();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.on('SIGHUP', stop);
  // npm runs this script in a shell. A signal to npm alone (from a supervisor) ends only that shell, not this process.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) {
    setInterval(() => process.ppid !== parent && stop(), parentCheckMs).unref();
  }
  process.on('exit', () => peer.kill('SIGKILL'));
  peer.on('error', (error) => fail(new SetupError(`The peer could not be started: ${error.message}`)));
  peer.on('exit', (code, signal) => {
    if (isStopping) {
      console.log('Stopped.');
      process.exit(0);
    }
    fail(
      new SetupError(
        `The peer ended unexpectedly (${signal ?? `exit code ${code}`}). Its last words are above.`,
      ),
    );
  });

  const loopback = await listening(peer);
  const address = await publish(join(root, 'tests/sites/sample'), loopback);
  await writeConfig({ peers: ['/'], names: { sample: address } });
  const origin = `http://${name}:${new URL(loopback).port}`;
  const examplePort = port === defaultPort && (await isFree(defaultPort + 1)) ? defaultPort + 1 : 0;
  const example = await serveExample(
    [join(root, 'examples/embedding'), built.dropIn],
    { peers: [loopback], names: { sample: address } },
    examplePort,
  );
  console.log(`
Antway is running.

  Gateway          ${origin}/
  Sample site      ${origin}/sample/
  by its address   ${origin}/${address}/
  Another site     ${example}/   a page of its own, with content of the sample site

A site's scripts run on an origin of its own, below this name.
${loopback}/ works as before, without separate origins.${
    hosts.length === 1 ? '\nThis machine has no IPv6: [::1] is not served.' : ''
  }

Publish a folder of your own, and open the address that this prints:

  node dist-cli/antway.js publish <folder>${port === defaultPort ? '' : ` --peer ${origin}`}

${
  network
    ? `The peer connects to the Autonomi network (${network === 'mainnet' ? network : `bootstrap nodes of ${network}`}). Open any address of it:
  ${origin}/<address>/
Its log says when it is connected. ${loopback}/-/info has the state.`
    : 'To open addresses of the Autonomi network, start with: npm start -- --network'
}

Ctrl-C ends it.`);
}

/** Without `ANTWAY_PORT`, returns 8080, or 0 (any free port) if 8080 is taken. */
async function choosePort(hosts) {
  const isFreeEverywhere = async (port) => {
    for (const host of hosts) if (!(await isFree(port, host.replace(/[[\]]/g, '')))) return false;
    return true;
  };
  const wanted = process.env.ANTWAY_PORT;
  if (wanted === undefined) return (await isFreeEverywhere(defaultPort)) ? defaultPort : 0;
  const port = Number(wanted);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new SetupError(`ANTWAY_PORT is “${wanted}”, which is not a port.`);
  }
  if (!(await isFreeEverywhere(port))) {
    throw new SetupError(
      `Port ${port} (ANTWAY_PORT) is taken by another program. Choose another, or unset it.`,
    );
  }
  return port;
}

function isFree(port, host = '127.0.0.1') {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/** Returns the peer's HTTP origin, which the peer prints when it is ready. */
async function listening(peer) {
  for await (const line of createInterface({ input: peer.stdout })) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      continue; // a log line for the user
    }
    if (message.event !== 'listening') continue;
    peer.stdout.resume(); // later output must not fill the pipe
    return message.http;
  }
  throw new SetupError('The peer did not start; it says why above. Is Antway running already?');
}

async function publish(folder, origin) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [built.cli, 'publish', folder, '--peer', origin, '--json'],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) throw new SetupError('The sample site could not be published. The reason is above.');
  return JSON.parse(stdout).address;
}

/** Replaces the file atomically, because the peer may read it at any time. */
async function writeConfig(config) {
  const temporary = `${configFile}.partial`;
  await writeFile(temporary, `${JSON.stringify(config, null, 2)}\n`);
  await rename(temporary, configFile);
}
