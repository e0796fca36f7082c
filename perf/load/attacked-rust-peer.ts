import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoopbackServer } from '../../tests/support/loopback-server.ts';
import { PeerProcess } from '../../tests/support/peer-process.ts';
import {
  type Attack,
  type AttackedPeer,
  attackByHttp,
  end,
  filePath,
  giveWay,
  makeWebFolder,
  mebibyte,
  pathOf,
  smallBytes,
  storeChunks,
} from './attacked-peer.ts';
import { attacks } from './attackers.ts';
import { makeCertificate } from './certificate.ts';
import { pauseMs, readByHttp } from './honest-reader.ts';
import { attackNatively, buildNativeClients, nativeKinds, readBySession } from './native-clients.ts';
import { proxyAddress } from './proxied-socket.ts';

/**
 * The documented bound of a peer with upstreams and the default limits: chunks and hosted files, request heads,
 * requests of sessions, and answers of HTTP/1 connections.
 */
const memoryBound = (896 + 64 + 16 + 1024) * mebibyte;

/** A peer in Rust with the default limits, behind a proxy that names its clients, and with a silent upstream. */
export async function startRustPeer(): Promise<AttackedPeer> {
  buildNativeClients();
  const folder = await mkdtemp(join(tmpdir(), 'antway-hostile-'));
  // An upstream that takes requests and never answers.
  const silent = await LoopbackServer.start(() => undefined);
  const { certificateFile, keyFile, certificate } = makeCertificate(folder);
  const store = join(folder, 'store');
  // Written by a peer without TLS, because Node does not trust this certificate.
  const writer = await PeerProcess.start({ store, webTransport: 'none' });
  const { small, large } = await storeChunks((address, bytes) => writer.put(address, bytes));
  await writer.kill();

  const web = await makeWebFolder(folder);
  const peer = await PeerProcess.start({
    store,
    flags: [
      ...['--trusted-proxy', proxyAddress, '--proxy-protocol', '--limit-loopback'],
      ...['--cert', certificateFile, '--key', keyFile, '--web', web, '--upstream', silent.url],
    ],
  });
  const listener = { port: Number(new URL(peer.url).port), certificate };
  const target = {
    webTransport: new URL(peer.listening.webTransport!).host,
    https: new URL(peer.url).host,
    certificateFile,
    file: filePath,
  };
  const native = { ...target, chunks: large };
  const overHttp = Object.keys(attacks);
  return {
    name: 'Rust',
    processId: peer.processId,
    memoryBound,
    kinds: [...overHttp, ...(await nativeKinds(native))],
    async read(seconds) {
      const [https, session] = await Promise.all([
        readByHttp(listener, small.map(pathOf), { seconds, chunkBytes: smallBytes }),
        readBySession({ ...target, chunks: small }, { seconds, pauseMs }),
      ]);
      return { HTTPS: https, WebTransport: session };
    },
    async attack(attack: Attack) {
      const { kind } = attack;
      const kinds = overHttp.filter((name) => kind === undefined || name === kind);
      const isNative = kinds.length === 0 || kind === undefined;
      const attackers = [
        ...(isNative ? [await attackNatively(native, attack)] : []),
        ...(kinds.length > 0
          ? [attackByHttp(kinds, attack, { ...listener, large: large.map(pathOf), file: filePath })]
          : []),
      ];
      attackers.forEach(giveWay);
      return async () => void (await Promise.all(attackers.map(end)));
    },
    async stop() {
      await peer.stop();
      await silent.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
