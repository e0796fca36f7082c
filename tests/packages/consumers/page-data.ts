import {
  AntError,
  type AntEvents,
  type AntManifest,
  type AntPeer,
  type AntwayPage,
  createAntway,
  DropInError,
} from '@antway/page';
import { createPublisher } from '@antway/publish';

const codeOf = (error: unknown) =>
  error instanceof AntError || error instanceof DropInError ? error.code : String(error);
const failure = (promise: Promise<unknown>) => promise.then(() => 'none', codeOf);

export interface Asked {
  peer: string;
  token: string;
  /** A peer that the page adds, and one that does not answer. */
  other: string;
  silent: string;
  /** An archive with `a.txt`. */
  site: string;
}

/** Private content, files of sites, and peers. */
export async function useData(asked: Asked) {
  const antway = createAntway({ worker: '/antway-sw.js', config: { peers: [asked.peer] } });
  await antway.ready;
  const results = {
    ...(await useManifests(antway, asked)),
    ...(await useSiteFiles(antway, asked)),
    ...(await usePeers(antway, asked)),
  };
  antway.close();
  return results;
}

async function useManifests(antway: AntwayPage, { peer, token }: Asked) {
  const publisher = createPublisher({ peers: [peer], token });
  const hidden = await publisher.publish(new Blob(['for few']), { isPrivate: true, name: 'secret.txt' });
  publisher.close();
  const seen: number[] = [];
  const listener = (manifests: AntEvents['manifests']) => void seen.push(manifests.length);
  const stop = antway.on('manifests', listener);
  await until(() => seen.includes(0));
  const added: AntManifest = await antway.addManifest(hidden.uri);
  await until(() => seen.includes(1));
  stop();
  const secret = await (await antway.fetch(added.address)).text();
  const bytes = await antway.readManifest(added.address);
  const isSame = String(bytes) === String(hidden.manifest);
  const listed = (await antway.manifests()).map(({ name, files, isStored }) => [name, files, isStored]);
  await antway.removeManifest(added.address);
  const removed = [(await antway.manifests()).length, await failure(antway.readManifest(added.address))];
  const { address } = await antway.addManifest(bytes);
  await antway.removeManifest(address);
  const refused = [
    await failure(antway.addManifest('ant://manifest/AAAA')),
    await failure(antway.addManifest(`ant://${added.address}`)),
    await failure(antway.addManifest(new Uint8Array(9))),
  ];
  return { secret, isSame, listed, removed, again: address === added.address, refused, seen };
}

async function useSiteFiles(antway: AntwayPage, { site }: Asked) {
  const unpinned = await failure(antway.export(site));
  await (await antway.pin(site)).done;
  const response: Response = await antway.export(site, { title: 'A site', icon: new Blob([]) });
  const file = await response.blob();
  await antway.unpin(site);
  const imported = await antway.import(file, { content: `ant://${site}` });
  // The worker looks through what it stored. The pin is complete after that.
  for (const { done } of await antway.pins()) await done;
  const pins = (await antway.pins()).map(({ address, state }) => [address, state.state]);
  // The file is a tar: a header, which has "ustar" at 257, takes 512 bytes, and then the chunk follows.
  const bytes = await file.arrayBuffer();
  const header = new TextDecoder('latin1').decode(bytes).lastIndexOf('ustar') - 257;
  const { refused } = await antway.import(withDamageAt(bytes, header + 512));
  const last = new TextDecoder('latin1').decode(bytes.slice(header, header + 64));
  const codes = [
    await failure(antway.import(file, { content: 'ab'.repeat(32) })),
    await failure(antway.import(new Blob(['no such file']))),
    await failure(antway.import(withDamageAt(bytes, header))),
  ];
  await antway.unpin(site);
  return {
    unpinned,
    imported: [imported.address, imported.refused.length],
    pins,
    damaged: refused.map(({ name }) => name === last),
    codes,
  };
}

/** A copy of a file with one wrong byte. */
function withDamageAt(bytes: ArrayBuffer, at: number): Blob {
  const damaged = new Uint8Array(bytes.slice(0));
  damaged[at]! ^= 1;
  return new Blob([damaged]);
}

async function usePeers(antway: AntwayPage, { peer, other, silent }: Asked) {
  const urls = async () => (await antway.peers()).map(({ url }) => url);
  const checked: AntPeer[] = await antway.peers({ check: true });
  const before = await urls();
  const unreachable = await failure(antway.addPeer(silent));
  const wrong = await failure(antway.addPeer('ftp://peer.example'));
  await antway.addPeer(other);
  await antway.addPeer(other);
  const both = await urls();
  await antway.removePeer(peer);
  const one = await urls();
  const last = await failure(antway.removePeer(other));
  const absent = await failure(antway.removePeer('https://nobody.example'));
  await antway.resetPeers();
  const reset = await urls();
  return {
    answers: checked.map(({ answers, kind }) => [answers, kind]),
    before,
    unreachable,
    wrong,
    both,
    one,
    last,
    absent,
    reset,
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 50));
}
