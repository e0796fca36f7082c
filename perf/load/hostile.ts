import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { LoopbackServer } from '../../tests/support/loopback-server.ts';
import { fromRoot } from '../../tests/support/paths.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import { noise } from '../../tests/support/publish.ts';
import { markdownTable } from '../numbers.ts';
import { attacks, type Target } from './attackers.ts';
import { makeCertificate } from './certificate.ts';
import { attackNatively, buildNativeClients, readBySession } from './native-clients.ts';
import { connectAs, get, type Listener, proxyAddress, readAnswer } from './proxied-socket.ts';

const chunkBytes = 64 * 1024;
const chunks = 64;
const largeBytes = 4 * 1024 * 1024;
/** More than the peer's cache in memory has room for. */
const largeChunks = 64;
/** The honest client's connections, and its requests at a time in a session. */
const connections = 4;
/** Between the requests of a connection, so that the client stays within the rates of its network. */
const pauseMs = 8;
const measureSeconds = 10;
/** Until the attacks hold what they can get. */
const rampSeconds = 15;
const honestClient = '198.51.100.1';
const mebibyte = 1024 * 1024;
/**
 * The documented bound of a peer with upstreams and the default limits: chunks, request heads, requests of sessions,
 * and answers of HTTP connections.
 */
const memoryBound = (896 + 64 + 16 + 1024) * mebibyte;

export interface HostileResult {
  table: string;
  /** The lower one of the honest clients' rates during the attacks, of its rate without them. */
  share: number;
  /** The most resident memory of the peer, of the documented bound. */
  memory: number;
}

/** The result of an honest client. */
interface Reading {
  rate: number;
  failures: number;
}

/** The rates of honest clients beside `count` hostile ones of each kind, of their rates without them. */
export async function hostileLoad(count: number): Promise<HostileResult> {
  buildNativeClients();
  const folder = await mkdtemp(join(tmpdir(), 'antway-hostile-'));
  // An upstream that takes requests and never answers.
  const silent = await LoopbackServer.start(() => undefined);
  const stops: (() => Promise<void>)[] = [
    () => rm(folder, { recursive: true, force: true }),
    () => silent.stop(),
  ];
  try {
    const { certificateFile, keyFile, certificate } = makeCertificate(folder);
    const store = join(folder, 'store');
    // Written by a peer without TLS, because Node does not trust this certificate.
    const writer = await PeerProcess.start({ store, webTransport: 'none' });
    const large = await fill(writer, 1, largeChunks, largeBytes);
    const small = await fill(writer, 1 + largeChunks, chunks, chunkBytes);
    await writer.kill();

    const web = join(folder, 'web');
    await mkdir(web);
    await writeFile(join(web, 'index.html'), '<!doctype html>');
    await writeFile(join(web, 'film.bin'), noise(0, 64 * mebibyte));
    const peer = await PeerProcess.start({
      store,
      flags: [
        ...['--trusted-proxy', proxyAddress, '--proxy-protocol', '--limit-loopback'],
        ...['--cert', certificateFile, '--key', keyFile, '--web', web, '--upstream', silent.url],
      ],
    });
    stops.push(() => peer.stop());

    const https = new URL(peer.url).host;
    const listener = { port: Number(new URL(peer.url).port), certificate };
    const native = { webTransport: new URL(peer.listening.webTransport!).host, https, certificateFile };
    const measure = () =>
      Promise.all([
        readByHttp(listener, small.map(pathOf)),
        readBySession(native, small, { seconds: measureSeconds, pauseMs }),
      ]);
    const before = await measure();
    const { process: nativeAttackers, kinds } = await attackNatively(native, large, count);
    const target = { ...listener, large: large.map(pathOf), file: '/film.bin' };
    const attackers = [nativeAttackers, startAttackers(count, target)];
    for (const { pid } of attackers) setPriority(pid!, constants.priority.PRIORITY_LOW);
    stops.push(async () => void (await Promise.all(attackers.map(end))));
    await delay(rampSeconds * 1000);
    const during = await measure();
    await Promise.all(attackers.map(end));
    await delay(1000);
    const after = await measure();

    const memory = peakMemory(peer.processId);
    const names = [...Object.keys(attacks), ...kinds];
    const honest = ['HTTPS', 'WebTransport'].map((name, n) =>
      compare(name, [before[n]!, during[n]!, after[n]!]),
    );
    const share = Math.min(...honest.map((client) => client.share));
    const text = `${count} of each of ${names.length} kinds: ${names.join(', ')}. Peak memory of the peer \
${(memory / mebibyte).toFixed(0)} MiB, ${(memory / memoryBound).toFixed(2)} of the documented bound.`;
    const head = ['honest client', 'chunks/s before', 'with attacks', 'after', 'share', 'failed'];
    return {
      table: `${text}\n\n${markdownTable([head, ...honest.map(({ row }) => row)])}`,
      share,
      memory: memory / memoryBound,
    };
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** @param readings before, during and after the attacks. */
function compare(name: string, readings: readonly [Reading, Reading, Reading]) {
  const [before, during, after] = readings;
  const share = during.rate / ((before.rate + after.rate) / 2);
  const failures = readings.reduce((sum, reading) => sum + reading.failures, 0);
  const rates = readings.map(({ rate }) => rate.toFixed(0));
  return { share, row: [name, ...rates, share.toFixed(2), String(failures)] };
}

async function fill(peer: PeerProcess, seed: number, count: number, bytes: number): Promise<string[]> {
  const addresses: string[] = [];
  for (let n = 0; n < count; n++) {
    const chunk = noise(seed + n, bytes);
    const address = bytesToHex(blake3(chunk));
    await peer.put(address, chunk);
    addresses.push(address);
  }
  return addresses;
}

function pathOf(address: string): string {
  return `/chunk/${address}`;
}

/** The attackers would be on other machines, so they get the time that others leave. */
function startAttackers(count: number, target: Target): ChildProcess {
  const args = [fromRoot('perf/run.mjs'), 'load/attackers-main.ts', JSON.stringify({ count, target })];
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

/** Reads chunks one after the other on each connection. An answer other than 200 is a failure. */
async function readByHttp(listener: Listener, paths: readonly string[]): Promise<Reading> {
  const started = performance.now();
  const isOver = () => performance.now() - started >= measureSeconds * 1000;
  let served = 0;
  let failures = 0;
  const one = async (number: number) => {
    let socket = await connectAs(honestClient, listener);
    for (let n = number; !isOver(); n += connections) {
      socket.write(get(paths[n % paths.length]!));
      const answer = await readAnswer(socket);
      if (answer?.status === 200 && answer.length === chunkBytes) {
        served++;
        await delay(pauseMs);
        continue;
      }
      failures++;
      if (!answer) socket = await connectAs(honestClient, listener);
      await delay(50);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, (_, number) => one(number)));
  return { rate: served / ((performance.now() - started) / 1000), failures };
}

/** The highest resident memory of a process so far, in bytes. */
function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)![1]) * 1024;
}
