import { readFileSync } from 'node:fs';
import { filesOf } from '../../build/files-of.ts';
import { expect, openShellIn, test } from '../support/chromium.ts';
import { CountingProxy } from '../support/counting-proxy.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { distFolder } from '../support/paths.ts';
import { shellStored } from '../support/shell-stored.ts';

for (const kind of ['Rust', 'Node']) {
  test(`a first visit loads the compressed files from the peer in ${kind}`, {
    tag: kind === 'Node' ? '@full' : [],
  }, async ({ context, folder, startHost }) => {
    const node =
      kind === 'Node' ? await NodePeerProcess.start(`${folder}/store`, '--web', distFolder) : undefined;
    const host = node ?? (await startHost({ peers: [] }));
    const proxy = await CountingProxy.start(host.url);
    try {
      const page = await openShellIn(context, `http://127.0.0.1:${proxy.port}/`);
      const files = filesOf(distFolder).filter((path) => !path.startsWith('-/'));
      const scripts = files.filter((path) => /\.(js|css|wasm)$/.test(path));
      const plain = (path: string) => readFileSync(`${distFolder}/${path}`).length;
      expect(scripts.map(plain).reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(1_500_000);
      const first = proxy.received;
      await shellStored(page);
      // Before the worker controls the page, it stores only the files of the first screen.
      expect(first).toBeGreaterThan(100_000);
      expect(proxy.received).toBeGreaterThan(first + 100_000);
      expect(proxy.received).toBeLessThan(800_000);
      await page.close();
    } finally {
      proxy.close();
      await node?.stop();
    }
  });
}
