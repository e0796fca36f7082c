// The last step of `npm start`, after the builds that it needs. Plain JavaScript, see setup.mjs.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, realpath, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { serveExample } from './example-site.mjs';
import { PeerProcess } from './peer-process.mjs';
import { prebuiltPlatforms } from './prebuilt-peer.mjs';
import { built, fail, peerBuildLog, root, SetupError, stateFolder, supportsRustPeer } from './setup.mjs';

const defaultPort = 8080;
/** Browsers resolve this name, and every name below it, to this machine. */
const name = 'antway.localhost';
const parentCheckMs = 500;
/** The sample site's entry on the start page. */
const sample = {
  title: 'Low Tide',
  description: 'A pocket guide to a rocky shore: four creatures, the tides, and the sound of the sea.',
  icon: 'assets/img/limpet.svg',
  cover: 'assets/img/shore.svg',
};
/** Holds the peer's chunks and the page's configuration. */
const dataFolder = resolve(process.env.ANTWAY_DATA || stateFolder);
const configFile = join(dataFolder, 'antway.json');

/**
 * Runs a peer on loopback with the built page and the sample site, and an example site that embeds the sample site's
 * content, until the peer ends or a signal arrives. The page and the command must be built.
 * @param {object} options
 * @param {'node' | 'rust'} [options.peer] the peer to begin with. The one in Rust must be built.
 * @param {{ name: string, program: string }} [options.prebuilt] the package whose peer in Rust is used, in place of the
 *   one that was built.
 * @param {string} [options.prebuiltProblem] why an installed package is not used.
 * @param {string} [options.network] the network for the peer in Rust.
 * @param {(signal: AbortSignal) => Promise<void>} [options.buildSuccessor] builds the peer in Rust, which then takes over
 *   from the one in Node.
 * @param {() => Promise<void>} [options.buildExample] builds what the example site needs.
 * @throws SetupError when the peer cannot start. When the peer ends later, the process ends. When a part fails that is
 *   built in the background, the gateway serves on without that part.
 */
export async function serve({
  peer: kind = 'rust',
  prebuilt,
  prebuiltProblem,
  network,
  buildSuccessor,
  buildExample,
} = {}) {
  // Browsers may resolve the name to either loopback address.
  const hosts = (await isFree(0, '::1')) ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];
  const port = await choosePort(hosts);
  const addresses = hosts.map((host) => `${host}:${port}`);
  await mkdir(dataFolder, { recursive: true });
  // The peer requires this file at its start, before the sample site has an address. Do not overwrite an existing file:
  // another `npm start` may use it. In that case, the peer below fails to start.
  if (!existsSync(configFile)) await writeConfig({ peers: ['/'] });
  const settings = {
    store: join(dataFolder, 'store'),
    allowsWrites: true,
    web: built.shell,
    config: configFile,
  };
  const rust = network
    ? { ...settings, program: built.networkPeer, more: ['--network', network] }
    : { ...settings, program: prebuilt?.program ?? built.peer };

  /** @type {PeerProcess[]} */
  const peers = [];
  const stopping = new AbortController();
  const stop = async () => {
    // On Ctrl-C, the signal can arrive twice: from the terminal and from npm. Ignore the second one.
    if (stopping.signal.aborted) return;
    stopping.abort();
    await Promise.all(peers.map((peer) => peer.stop()));
    console.log('Stopped.');
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  // npm runs this script in a shell. A signal to npm alone (from a supervisor) ends only that shell, not this process.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) {
    setInterval(() => process.ppid !== parent && stop(), parentCheckMs).unref();
  }

  const first = kind === 'rust' ? { ...rust, webTransport: addresses } : { ...settings, program: built.cli };
  const peer = await PeerProcess.start(kind, { ...first, addresses }, (reason) =>
    fail(new SetupError(`The peer ended unexpectedly (${reason}). Its last words are above.`)),
  );
  peers.push(peer);
  const loopback = peer.url;
  const address = await publish(join(root, 'tests/sites/sample'), loopback);
  await writeConfig({ peers: ['/'], names: { sample: address }, sample: { ...sample, address } });
  const origin = `http://${name}:${new URL(loopback).port}`;
  console.log(banner({ origin, loopback, address, hasIPv6: hosts.length > 1, network }));
  if (prebuiltProblem) console.error(`\n${prebuiltProblem}`);
  if (prebuilt) console.log(`\nThe peer in Rust of ${prebuilt.name} serves: WebTransport is available.`);
  if (kind === 'node') console.log(`\n${buildSuccessor ? withSuccessor : withoutSuccessor()}`);

  try {
    await buildExample?.();
    const examplePort = port === defaultPort && (await isFree(defaultPort + 1)) ? defaultPort + 1 : 0;
    const example = await serveExample(
      [join(root, 'examples/embedding'), built.dropIn],
      { peers: [loopback], names: { sample: address } },
      examplePort,
    );
    console.log(`\nAnother site, with content of the sample site: ${example}/`);
  } catch (error) {
    if (stopping.signal.aborted) return;
    console.error(`The example of another site is missing: ${reasonOf(error)}`);
  }
  if (kind === 'node' && buildSuccessor) {
    await takeOver(peer, peers, { ...rust, hosts }, () => buildSuccessor(stopping.signal), stopping.signal);
  }
}

const withSuccessor = `A peer in Node serves now. The peer in Rust, which adds WebTransport, is built in the background at low
priority. It takes over when it is ready; nothing has to be restarted.`;

const withoutSuccessor = () =>
  supportsRustPeer()
    ? `A peer in Node serves, by HTTP. Without Rust, WebTransport and the Autonomi network are missing. To get them,
install Rust from https://rustup.rs/ and start again.${withPackage()}`
    : `A peer in Node serves, by HTTP. WebTransport and the Autonomi network are missing, because the peer in Rust does not
run on Windows. To get them, start in WSL.`;

function withPackage() {
  const platform = `${process.platform}-${process.arch}`;
  if (!prebuiltPlatforms.includes(platform)) return '';
  return ` For WebTransport alone, install the package of a release:
npm install --prefix .antway @antway/peer-${platform}`;
}

/** Builds and starts the peer in Rust. Until it works, and again after its end, the peer in Node answers. */
async function takeOver(peer, peers, { hosts, ...settings }, build, signal) {
  try {
    await build();
    if (signal.aborted) return;
    const { port } = new URL(peer.url);
    const successor = await PeerProcess.start(
      'rust',
      // Clients look for WebTransport on the host where they found HTTP.
      { ...settings, addresses: ['127.0.0.1:0'], webTransport: hosts.map((host) => `${host}:${port}`) },
      (reason) => {
        console.error(`The peer in Rust ended unexpectedly (${reason}). The peer in Node serves again.`);
        peer.forwardTo(undefined);
      },
    );
    peers.push(successor);
    peer.forwardTo(successor.url);
    console.log('The peer in Rust has taken over: WebTransport is available.');
  } catch (error) {
    if (signal.aborted) return;
    console.error(
      `The peer in Rust is missing: ${reasonOf(error)} The peer in Node serves on. See ${peerBuildLog}`,
    );
  }
}

/** The message for the user. For a defect of the program, also its place. */
function reasonOf(error) {
  if (error instanceof SetupError) return error.message;
  return error instanceof Error ? `${error.stack}\n` : String(error);
}

function banner({ origin, loopback, address, hasIPv6, network }) {
  const isDefaultPort = new URL(origin).port === String(defaultPort);
  return `
Antway is running.

  Gateway          ${origin}/
  Sample site      ${origin}/sample/
  by its address   ${origin}/${address}/

A site's scripts run on an origin of its own, below this name.
${loopback}/ works as before, without separate origins.${
    hasIPv6 ? '' : '\nThis machine has no IPv6: [::1] is not served.'
  }

Publish a folder of your own, and open the address that this prints:

  node dist-cli/antway.js publish <folder>${isDefaultPort ? '' : ` --peer ${origin}`}

${
  network
    ? `The peer connects to the Autonomi network (${network === 'mainnet' ? network : `bootstrap nodes of ${network}`}). Open any address of it:
  ${origin}/<address>/
Its log says when it is connected. ${loopback}/-/info has the state.`
    : 'To open addresses of the Autonomi network, start with: npm start -- --network'
}

Press Ctrl-C to stop.`;
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

async function publish(folder, origin) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [built.cli, 'publish', folder, '--peer', origin, '--json'],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) throw new SetupError('The sample site could not be published. The reason is above.');
  return JSON.parse(stdout).address;
}

/** Replaces the file, or the one that a link leads to, atomically, because the peer may read it at any time. */
async function writeConfig(config) {
  const file = await realpath(configFile).catch(() => configFile);
  const temporary = `${file}.partial`;
  await writeFile(temporary, `${JSON.stringify(config, null, 2)}\n`);
  await rename(temporary, file);
}
