// @module-tag isolated
import { beforeEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import type { Gateway } from '../../src/gateway/create-gateway.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { encryptedFile, type Records } from './support/encrypted-file.ts';
import { contextOf, requestOf, startGateway } from './support/gateway.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

const root = 'https://gateway.example';
const [known, other] = ['aa'.repeat(32), 'bb'.repeat(32)];

beforeEach(freshIndexedDb);

async function ask(gateway: Gateway, origin: string, path: string, method: string, body?: BodyInit) {
  const request = requestOf(`${origin}/-/${path}`, { method, ...(body !== undefined && { body }) }, 'fetch');
  // The shell asks a site's own origin through the bridge.
  const isSite = origin !== root;
  const client = async () => ({ url: `${origin}${isSite ? '/-/bridge' : '/'}`, isTopLevel: !isSite });
  const response = (await gateway.handle(request, { ...contextOf(origin), client }))!;
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

it('a library at another name changes only the time of a listed site', async () => {
  const gateway = startGateway(deploymentAt(root));
  const visit = {
    address: known,
    path: `/${known}/`,
    name: null,
    title: 'Bank',
    icon: null,
    kind: 'archive',
  };
  const note = (value: object) => ask(gateway, root, 'visits', 'POST', JSON.stringify(value));
  expect((await note({ ...visit, lastOpened: 10 })).status).toBe(204);
  expect((await note({ ...visit, path: `/${other}/`, title: 'Other', lastOpened: 20 })).status).toBe(204);
  expect((await note({ ...visit, lastOpened: 5 })).status).toBe(204);
  const { sites } = (await ask(gateway, root, 'sites', 'GET')).body;
  expect(sites).toMatchObject([{ address: known, path: `/${known}/`, title: 'Bank', lastOpened: 20 }]);
  gateway.close();
});

it('an import for one site pins no other', async () => {
  const records: Records = new Map();
  const { address } = await encryptedFile(new TextEncoder().encode('a page '.repeat(50)), records);
  const gateway = startGateway(deploymentAt(root), { records });
  expect(
    (await gateway.handle(requestOf(`${root}/${address.hex}`, {}, 'fetch'), contextOf(root)))!.status,
  ).toBe(200);
  await ask(gateway, root, 'pins', 'POST', JSON.stringify({ address: address.hex, action: 'pin' }));
  const state = async () => (await ask(gateway, root, 'pins', 'GET')).body.pins[0]?.state;
  await expect.poll(state).toBe('complete');
  const exported = await gateway.handle(
    requestOf(`${root}/-/export?address=${address.hex}`, {}, 'fetch'),
    contextOf(root),
  );
  const file = await exported!.arrayBuffer();
  await ask(gateway, root, `pins?address=${address.hex}`, 'DELETE');

  const refused = await ask(gateway, root, `import?address=${other}`, 'POST', file);
  expect(refused).toMatchObject({ status: 502, body: { code: 'CORRUPT' } });
  expect(await state()).toBeUndefined();
  expect((await ask(gateway, root, `import?address=${address.hex}`, 'POST', file)).status).toBe(200);
  await expect.poll(state).toBe('complete');
  gateway.close();
});

describe('a site’s own origin', () => {
  it('takes the user’s settings although the manifest that comes with them cannot be stored', async () => {
    const site = `https://${Address.fromHex(known!).base32}.gateway.example`;
    const gateway = startGateway(deploymentAt(site));
    const form = new FormData();
    const settings = {
      settings: { peers: ['https://own.example'] },
      deniedHashes: [],
      runsScripts: false,
      appearance: { language: null, theme: null },
    };
    form.set('settings', JSON.stringify(settings));
    form.set('manifest', new Blob(['no manifest']));
    expect((await ask(gateway, site, 'origin', 'PUT', form)).status).toBeGreaterThanOrEqual(400);
    expect((await ask(gateway, site, 'config', 'GET')).body.peers).toEqual(['https://own.example']);
    gateway.close();
  });
});
