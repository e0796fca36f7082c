// `pnpm perf:load`: how a peer bears many clients at once, beside nginx with the same file.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { fromRoot } from '../../tests/support/paths.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import { noise } from '../../tests/support/publish.ts';
import { describeMachine, machineLine } from '../machine.ts';
import { markdownTable, median, spread } from '../numbers.ts';
import { startNodePeer } from './attacked-node-peer.ts';
import { startRustPeer } from './attacked-rust-peer.ts';
import { makeCertificate } from './certificate.ts';
import { h2load, type LoadResult } from './h2load.ts';
import { hostileLoad, hostileTable } from './hostile.ts';
import { Nginx } from './nginx.ts';

const usage = `pnpm perf:load [options]
  --requests 10000    by HTTPS, in each round
  --clients 1024      connections at a time
  --rounds 3          of each server, one after the other
  --sessions 1000     WebTransport sessions at a time
  --chunks 20         that each session fetches
  --hostile           only: honest clients beside hostile ones (needs Linux, Rust, openssl, and the peer built)
  --each              with --hostile: each kind of hostile connections alone
  --kind <name>       with --each: only this kind (repeatable)
  --peer rust         with --hostile: the peer, or “node” (needs the command built)
  --attackers 200     of each kind, with --hostile
The rest needs h2load (Debian: nghttp2-client), nginx and openssl on the PATH, and the peer built.`;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    clients: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '3' },
    sessions: { type: 'string', default: '1000' },
    chunks: { type: 'string', default: '20' },
    hostile: { type: 'boolean', default: false },
    each: { type: 'boolean', default: false },
    kind: { type: 'string', multiple: true },
    peer: { type: 'string', default: 'rust' },
    attackers: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
});

/** Of the chunk that is asked for by HTTPS: what a small page's data map, or its chunk, has. */
const chunkBytes = 4900;
/** Of the chunks that sessions fetch. */
const sessionChunkBytes = 64 * 1024;
const sessionChunks = 16;
/** Of the requests per second of nginx. */
const leastShare = 0.9;
const resultsFolder = fromRoot('test-results/perf');

if (values.help) console.log(usage);
else if (values.hostile) await hostile();
else await main();

/** @throws Error when an honest client gets too little, or the peer takes too much memory. */
async function hostile(): Promise<void> {
  const peer = await (values.peer === 'node' ? startNodePeer() : startRustPeer());
  try {
    const count = Number(values.attackers);
    const result = await (values.each
      ? hostileTable(peer, { count, kinds: values.kind ?? peer.kinds })
      : hostileLoad(peer, count));
    const text = `${machineLine(describeMachine())}\n\n${result.table}\n`;
    console.log(`\n${text}`);
    await mkdir(resultsFolder, { recursive: true });
    const name = `hostile-${values.peer}${values.each ? '-each' : ''}.md`;
    await writeFile(join(resultsFolder, name), text);
    if (result.problems.length > 0) throw new Error(result.problems.join('\n'));
  } finally {
    await peer.stop();
  }
}

async function main(): Promise<void> {
  for (const tool of ['h2load', 'nginx', 'openssl']) {
    if (spawnSync('which', [tool]).status !== 0) throw new Error(`There is no ${tool} here.\n\n${usage}`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'antway-load-'));
  try {
    const machine = describeMachine();
    const web = await httpsLoad(folder);
    const sessions = await sessionsLoad();
    const text = `${machineLine(machine)}\n\n${httpsTable(web)}\n\n${sessions}\n`;
    console.log(`\n${text}`);
    await mkdir(resultsFolder, { recursive: true });
    await writeFile(join(resultsFolder, 'load.md'), text);
    await writeFile(join(resultsFolder, 'load.json'), JSON.stringify({ machine, web, sessions }, null, 2));
    const bad = web.flatMap(({ rounds }) => rounds).reduce((sum, round) => sum + round.bad, 0);
    if (bad > 0) throw new Error(`${bad} requests failed.`);
    const share = shareOf(web[0]!, web[1]!);
    if (share < leastShare) throw new Error(`The peer reached ${share.toFixed(2)} of nginx.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Served {
  server: string;
  rounds: LoadResult[];
}

/** The same file from the peer and from nginx, in turns, so that both have the same neighbours on the machine. */
async function httpsLoad(folder: string): Promise<Served[]> {
  const { certificateFile: certificate, keyFile: key } = makeCertificate(folder);
  const chunk = noise(1, chunkBytes);
  const address = bytesToHex(blake3(chunk));
  const web = join(folder, 'web');
  await mkdir(join(web, 'chunk'), { recursive: true });
  await writeFile(join(web, 'chunk', address), chunk);

  // Written by a peer without TLS, as Node does not trust this certificate.
  const store = join(folder, 'store');
  const writer = await PeerProcess.start({ store, webTransport: 'none' });
  await writer.put(address, chunk);
  await writer.kill();

  const peer = await PeerProcess.start({
    store,
    webTransport: 'none',
    flags: ['--cert', certificate, '--key', key, '--max-http-connections', '4096'],
  });
  const nginx = await Nginx.start(folder, { web, certificate, key });
  try {
    const served: (Served & { url: string })[] = [
      { server: 'antway-peer', url: peer.url, rounds: [] },
      { server: 'nginx', url: nginx.url, rounds: [] },
    ];
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const { server, url, rounds } of round % 2 ? served.toReversed() : served) {
        const result = await h2load(
          `${url}/chunk/${address}`,
          Number(values.requests),
          Number(values.clients),
        );
        rounds.push(result);
        console.error(`${server}: ${result.requestsPerSecond.toFixed(0)} requests/s, ${result.bad} failed`);
      }
    }
    return served;
  } finally {
    await nginx.stop();
    await peer.stop();
  }
}

function httpsTable(served: readonly Served[]): string {
  const rows = served.map((server) => {
    const speeds = server.rounds.map(({ requestsPerSecond }) => requestsPerSecond);
    return [
      server.server,
      median(speeds).toFixed(0),
      spread(speeds),
      shareOf(server, served.at(-1)!).toFixed(2),
      String(server.rounds.reduce((sum, { bad }) => sum + bad, 0)),
      server.rounds[0]!.times,
    ];
  });
  const times = 'time for a request (first round): min, max, mean, sd, within ± sd';
  const head = ['server', 'requests/s, median', 'spread', 'of nginx', 'failed', times];
  return markdownTable([head, ...rows]);
}

/** The median of the speeds inside a round, because the machine has other things to do in the next. */
function shareOf(server: Served, reference: Served): number {
  const shares = server.rounds.map(
    ({ requestsPerSecond }, round) => requestsPerSecond / reference.rounds[round]!.requestsPerSecond,
  );
  return median(shares);
}

/** Many WebTransport sessions at once, from a native load generator. @returns what it prints. */
async function sessionsLoad(): Promise<string> {
  const build = ['build', '--release', '--locked', '--example', 'sessions'];
  execFileSync('cargo', [...build, '--manifest-path', fromRoot('peer/Cargo.toml')], { stdio: 'inherit' });
  const peer = await PeerProcess.start({ flags: ['--max-sessions', values.sessions] });
  try {
    for (let seed = 1; seed <= sessionChunks; seed++) {
      const chunk = noise(seed, sessionChunkBytes);
      await peer.put(bytesToHex(blake3(chunk)), chunk);
    }
    const generator = spawn(
      fromRoot('peer/target/release/examples/sessions'),
      [
        ...['--sessions', values.sessions, '--chunks', values.chunks],
        ...['--listening', JSON.stringify({ ...peer.listening, store: peer.storeFolder })],
        ...['--pid', String(peer.processId)],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let text = '';
    generator.stdout.setEncoding('utf8').on('data', (part) => {
      process.stderr.write(part);
      text += part;
    });
    const [code] = await once(generator, 'close');
    if (code !== 0) throw new Error(`The load generator ended with ${code}.`);
    return text
      .trim()
      .split('\n')
      .map((line) => `- ${line}`)
      .join('\n');
  } finally {
    await peer.stop();
  }
}
