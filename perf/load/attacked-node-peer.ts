import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodePeerProcess } from '../../tests/support/node-peer-process.ts';
import {
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
import { readByHttp } from './honest-reader.ts';

const memoryBound = 512 * mebibyte;

/** A peer in Node, as newcomers run it: plain HTTP on loopback. It knows no client networks. */
export async function startNodePeer(): Promise<AttackedPeer> {
  const folder = await mkdtemp(join(tmpdir(), 'antway-hostile-'));
  const web = await makeWebFolder(folder);
  const peer = await NodePeerProcess.start(join(folder, 'store'), '--allow-open-writes', '--web', web);
  const listener = { port: Number(new URL(peer.url).port) };
  const { small, large } = await storeChunks(async (address, bytes) => {
    const body = bytes as Uint8Array<ArrayBuffer>;
    const response = await fetch(`${peer.url}${pathOf(address)}`, { method: 'PUT', body });
    if (!response.ok) throw new Error(`PUT ${address}: ${response.status}`);
  });
  const kinds = Object.keys(attacks);
  return {
    name: 'Node',
    processId: peer.child.pid!,
    memoryBound,
    kinds,
    async read(seconds) {
      const paths = small.map(pathOf);
      return { HTTP: await readByHttp(listener, paths, { seconds, chunkBytes: smallBytes }) };
    },
    async attack(attack) {
      const started = kinds.filter((name) => attack.kind === undefined || name === attack.kind);
      const target = { ...listener, large: large.map(pathOf), file: filePath };
      const attackers = attackByHttp(started, attack, target);
      await once(attackers, 'spawn');
      giveWay(attackers);
      return () => end(attackers);
    },
    async stop() {
      await peer.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
