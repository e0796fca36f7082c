// @module-tag isolated
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AntwayError } from '../../src/errors.ts';
import type { Gateway } from '../../src/gateway/create-gateway.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { encryptedFile } from './support/encrypted-file.ts';
import { contextOf, linkTo, Network, requestOf, startGateway } from './support/gateway.ts';

const root = 'http://antway.localhost:8080';
const buildHash = 'build';

/** The host names whose probe file was requested. */
let probed: string[];
/** How many of the next probes fail. */
let failing: number;

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  probed = [];
  failing = 0;
  vi.stubGlobal('fetch', async (url: string) => {
    probed.push(new URL(url).hostname);
    if (failing-- > 0) throw new TypeError('no answer in time');
    return Response.json({ antway: buildHash });
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const siteOf = async (title: string) =>
  encryptedFile(
    await makeTarchive({ 'index.html': `<!doctype html><title>${title}</title>`, 'note.txt': 'a note' }),
  );

/** A gateway whose peer has two sites. */
async function start() {
  const [first, second] = await Promise.all([siteOf('First'), siteOf('Second')]);
  const network = new Network(new Map([...first.records, ...second.records]));
  const gateway = startGateway(deploymentAt(root), { network, buildHash });
  return { first: first.address, second: second.address, network, gateway };
}

const get = (gateway: Gateway, path: string, as: 'fetch' | 'document') =>
  gateway.handle(as === 'document' ? linkTo(root + path) : requestOf(root + path, {}, as), contextOf(root));

describe('the probe for wildcard hosts', () => {
  it('names no address that the user opens', async () => {
    const { first, gateway } = await start();
    const answer = (await get(gateway, `/${first}/`, 'document'))!;
    expect(answer.headers.get('Location')).toBe(`${root.replace('//', `//${first.base32}.`)}/`);
    expect(probed).toEqual([expect.stringMatching(/^[a-z2-7]{52}\.antway\.localhost$/)]);
    expect(probed[0]).not.toContain(first.base32);
  });

  it('lets a page lead to the site’s origin, in place of a redirect, if another website may navigate', async () => {
    const { first, gateway } = await start();
    const typed = requestOf(`${root}/${first}/`, {}, 'document');
    const answer = (await gateway.handle(typed, contextOf(root)))!;
    expect([answer.status, answer.headers.get('Location')]).toEqual([200, null]);
    const url = `${root.replace('//', `//${first.base32}.`)}/`;
    expect(await answer.text()).toContain(`<a class="primary" href="${url}">`);
  });

  describe('once such names have worked, and the last probe is old', () => {
    async function startLater() {
      const all = await start();
      await get(all.gateway, `/${all.first}/`, 'document');
      probed = [];
      const later = Date.now() + 60_000;
      vi.spyOn(Date, 'now').mockReturnValue(later);
      return all;
    }

    it('runs while the peers look for the content, so that the user waits for the slower of both', async () => {
      const { second, network, gateway } = await startLater();
      network.beforeAnswer = () => vi.waitFor(() => expect(probed).toHaveLength(1), { timeout: 5_000 });
      const answer = (await get(gateway, `/${second}/`, 'document'))!;
      expect(answer.headers.get('Location')).toBe(`${root.replace('//', `//${second.base32}.`)}/`);
      expect(probed).toHaveLength(1);
    });

    it('decides nothing if it fails early, because the link is busy', async () => {
      const { second, network, gateway } = await startLater();
      failing = 1;
      network.beforeAnswer = () => vi.waitFor(() => expect(probed).toHaveLength(1), { timeout: 5_000 });
      const answer = (await get(gateway, `/${second}/`, 'document'))!;
      expect(answer.headers.get('Location')).toBe(`${root.replace('//', `//${second.base32}.`)}/`);
      expect(probed).toHaveLength(2);
    });

    it('decides that a site opens here if it fails twice', async () => {
      const { second, gateway } = await startLater();
      failing = 2;
      expect((await get(gateway, `/${second}/`, 'document'))!.status).toBe(200);
      expect(probed).toHaveLength(2);
    });

    it('does not run for a text that the user opens', async () => {
      const { second, gateway } = await startLater();
      expect((await get(gateway, `/${second}/note.txt`, 'document'))!.status).toBe(200);
      expect(probed).toEqual([]);
    });

    it('does not run for a file that a page loads', async () => {
      const { second, gateway } = await startLater();
      expect((await get(gateway, `/${second}/note.txt`, 'fetch'))!.status).toBe(200);
      expect(probed).toEqual([]);
    });

    it('does not run for a site that the user opens without scripts', async () => {
      const { second, gateway } = await startLater();
      const body = JSON.stringify({ address: second.hex, decision: 'restricted' });
      const decide = requestOf(`${root}/-/trust`, { method: 'POST', body }, 'fetch');
      expect((await gateway.handle(decide, contextOf(root)))!.ok).toBe(true);
      expect((await get(gateway, `/${second}/`, 'document'))!.status).toBe(200);
      expect(probed).toEqual([]);
    });
  });

  it('runs while the browser installs the worker, when sessions with peers begin, too', async () => {
    const { network, gateway } = await start();
    const warm = vi.spyOn(network, 'warm');
    await gateway.prepare();
    expect(probed).toHaveLength(1);
    expect(warm).toHaveBeenCalledOnce();
  });
});

describe('the installation', () => {
  it('does not fail if the configuration of the host is invalid', async () => {
    const { records } = await siteOf('Site');
    const network = new Network(records);
    const warm = vi.spyOn(network, 'warm');
    const gateway = startGateway(deploymentAt(root), {
      network,
      buildHash,
      fetchConfig: async () => {
        throw new AntwayError('BAD_CONFIG', 'The key “sources” is unknown.');
      },
    });
    await gateway.prepare();
    expect(warm).not.toHaveBeenCalled();
  });
});

describe('the installation on a site’s own origin', () => {
  it('connects to no peer, because the user may have chosen other peers', async () => {
    const { address, records } = await siteOf('Site');
    const network = new Network(records);
    const warm = vi.spyOn(network, 'warm');
    const deployment = deploymentAt(root.replace('//', `//${address.base32}.`));
    await startGateway(deployment, { network, buildHash }).prepare();
    expect(warm).not.toHaveBeenCalled();
    expect(probed).toEqual([]);
  });
});
