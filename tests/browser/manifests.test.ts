import { type Answer, expect, type Gateway, test } from '../support/chromium.ts';
import { dumpSettings, makeMixedManifest } from '../support/manifests.ts';
import type { PeerProcess } from '../support/peer-process.ts';

const secret = 'a private file, whose keys only its manifest holds';

let peer: PeerProcess;
let gateway: Gateway;

test.beforeEach(async ({ startPeer, openGateway }) => {
  peer = await startPeer();
  gateway = await openGateway({ peers: [peer.url] });
});

test('a manifest opens as an archive, also after a reload and offline, and no peer has its keys', {
  tag: '@smoke',
}, async () => {
  const manifest = await makeMixedManifest(secret, peer);
  const { id, name, entries } = JSON.parse((await add(manifest)).text);
  expect([name, entries]).toEqual(['Private', 2]);
  const page = await gateway.openPage(`/${id}/`);
  await page.getByRole('link', { name: 'folder/' }).click();
  await page.getByRole('link', { name: 'secret.txt' }).click();
  await expect(page.locator('body')).toHaveText(secret);
  // The two files' records: one public, and none of the private one, nor of the manifest.
  expect((await fetch(`${peer.url}/chunk/${id}`)).status).toBe(404);

  await page.reload();
  await expect(page.locator('body')).toHaveText(secret);
  await gateway.settled();
  await peer.kill();
  await page.context().setOffline(true);
  await page.reload();
  await expect(page.locator('body')).toHaveText(secret);
  await page.goto(`${gateway.url}/${id}/`);
  await expect(page.getByRole('heading')).toHaveText('Contents of Private');
});

test('a stored manifest is encrypted, and deleting it deletes its key', { tag: '@full' }, async () => {
  const manifest = await makeMixedManifest(secret, peer);
  const { id } = JSON.parse((await add(manifest)).text);
  expect((await gateway.fetch(`/${id}/folder/secret.txt`)).text).toBe(secret);
  await gateway.settled();
  const dump = await gateway.shell.evaluate(dumpSettings);
  expect(dump).toContain(`manifest:${id}`);
  // Neither a word of it nor its bytes.
  for (const text of ['Private', 'secret.txt', 'data_map', manifest.subarray(60, 90).toString('latin1')]) {
    expect(dump).not.toContain(text);
  }
  expect((await gateway.fetch(`/-/manifests?id=${id}`, { method: 'DELETE' })).status).toBe(204);
  expect((await gateway.fetch(`/${id}/`)).status).toBe(404);
  expect(await gateway.shell.evaluate(dumpSettings)).not.toContain(id);
});

/** Hands a manifest to the worker, as the shell does. */
function add(bytes: Uint8Array): Promise<Answer> {
  return gateway.shell.evaluate(async (base64) => {
    const body = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const response = await fetch('/-/manifests', { method: 'POST', body });
    return { status: response.status, headers: {}, size: 0, sha256: '', text: await response.text() };
  }, Buffer.from(bytes).toString('base64'));
}
