import { type AntwayPage, createAntway, DropInError } from '@antway/page';

/** In a server that renders pages: nothing fails before the page's functions are used. */
export async function run({ address }: { address: string }) {
  const antway: AntwayPage = createAntway({
    worker: '/sub/antway-sw.js',
    config: { peers: ['https://peer.example'], names: { home: address } },
  });
  const codes = await Promise.all(
    [
      ...[antway.ready, antway.pin(address), antway.fetch(address), antway.pins(), antway.unpin(address)],
      ...[antway.stats(), antway.manifests(), antway.addManifest('ant://manifest/AAAA')],
      ...[antway.readManifest(address), antway.removeManifest(address), antway.export(address)],
      ...[antway.import(new Blob([])), antway.peers(), antway.addPeer('https://peer.example')],
      ...[antway.removePeer('https://peer.example'), antway.resetPeers()],
    ].map((promise: Promise<unknown>) =>
      promise.then(
        () => undefined,
        (error: unknown) => error instanceof DropInError && error.code,
      ),
    ),
  );
  let code: string | undefined;
  try {
    antway.url('ant://manifest/AAAA');
  } catch (error) {
    code = error instanceof DropInError ? error.code : undefined;
  }
  const urls = [antway.url(`ant://${address}/a%20b.txt`), antway.url(address, 'a b.txt'), antway.url('home')];
  antway.on('pins', () => undefined)();
  antway.close();
  return { codes: [...new Set(codes)], code, urls };
}
