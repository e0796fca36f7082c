// @module-tag isolated
import { encode } from '@msgpack/msgpack';
import { expect, it, onTestFinished } from 'vitest';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { de } from '../../src/gateway/pages/texts/de.ts';
import { en } from '../../src/gateway/pages/texts/en.ts';
import { encryptedFile, type Records } from './support/encrypted-file.ts';
import { contextOf, requestOf, startGateway } from './support/gateway.ts';
import { tarchive } from './support/tar.ts';

const origin = 'http://127.0.0.1:8080';
const reportUrl = 'https://gateway.example/report?address={address}&from=page';
const listed = { 'a.txt': 'a', 'b.txt': 'b' };
const scripted = { 'index.html': '<script></script>' };

/** Opens a site on a gateway whose host takes reports at a URL. */
async function startWith(files: Record<string, string>, template?: string) {
  const records: Records = new Map();
  const { address } = await encryptedFile(tarchive(files), records);
  const config = template === undefined ? {} : { reportUrl: template };
  const gateway = startGateway(deploymentAt(origin), { config, records });
  onTestFinished(() => gateway.close());
  const open = async (path: string, headers: Record<string, string> = {}) =>
    (await gateway.handle(requestOf(origin + path, { headers }, 'document'), contextOf(origin)))!;
  return { hex: address.hex, gateway, open };
}

it.each([
  ['a listing', listed, 'en', en],
  ['a listing', listed, 'de', de],
  ['the question of a first visit', scripted, 'en', en],
  ['the question of a first visit', scripted, 'de', de],
])('%s links to the host’s place for reports, with the address', async (_, files, language, texts) => {
  const { hex, open } = await startWith(files, reportUrl);
  const text = await (await open(`/${hex}/`, { 'Accept-Language': language })).text();
  const href = `https://gateway.example/report?address=${hex}&amp;from=page`;
  expect(text).toContain(`<a href="${href}" rel="noopener noreferrer">${texts.report}</a>`);
});

it.each([
  ['a listing', listed],
  ['the question of a first visit', scripted],
])('%s has no such link if the host takes no reports', async (_, files) => {
  const { hex, open } = await startWith(files);
  expect(await (await open(`/${hex}/`)).text()).not.toContain(en.report);
});

it('a listing has another ETag after the host has changed the link', async () => {
  const etags = [];
  for (const template of [undefined, reportUrl, 'mailto:abuse@gateway.example?subject={address}']) {
    const { hex, open } = await startWith(listed, template);
    etags.push((await open(`/${hex}/`)).headers.get('ETag'));
  }
  expect(new Set(etags).size).toBe(3);
  for (const etag of etags) expect(etag).toMatch(/^"[!#-~]+"$/);
});

it('the listing of a manifest that only this device stores has no such link', async () => {
  const { hex, gateway, open } = await startWith(listed, reportUrl);
  const source = { Public: { address: Buffer.from(hex, 'hex') } };
  const entries = ['a.tar', 'b.tar'].map((path) => ({ path, source }));
  const head = Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]);
  const body = new Uint8Array(Buffer.concat([head, encode({ name: 'Diary', entries })]));
  const adding = requestOf(`${origin}/-/manifests`, { method: 'POST', body }, 'fetch');
  const { id } = await (await gateway.handle(adding, contextOf(origin)))!.json();
  const text = await (await open(`/${id}/`)).text();
  expect(text).toContain('b.tar');
  expect(text).not.toContain(en.report);
});
