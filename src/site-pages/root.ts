/**
 * `/-/root`, a page of the gateway's own origin in a hidden frame of a site's origin. It gives that origin the user's
 * settings, the manifest of a private site, and the records that the gateway's origin has read already, before the origin
 * shows any content. The reply always concerns the site of the parent's origin, so it does not matter which page of that
 * origin sends the request.
 */
import type { SiteGrant } from '../gateway/api/site-exchange.ts';
import { siteOfHost } from '../gateway/origins/site-host.ts';
import { delay } from '../util/delay.ts';
import { ask, request } from './endpoint.ts';
import { helloMessage, readyMessage, recordsMs, type Welcome } from './messages.ts';

const controlMs = 2_000;

addEventListener('message', async ({ origin, source, data, ports: [port] }) => {
  // A sandboxed page has the origin “null”.
  if (source !== parent || data?.type !== helloMessage || !port || !URL.canParse(origin)) return;
  const { protocol, host } = new URL(origin);
  const site = siteOfHost(host);
  if (site?.rootHost !== location.host || protocol !== location.protocol) return;
  const address = site.address.hex;
  let settingsId = '';
  port.onmessage = ({ data }) => {
    if (data?.type !== readyMessage) return;
    request('origins', 'PUT', JSON.stringify({ address, settingsId }))
      .catch((error) => console.warn('antway: the origin is not noted', error))
      // The site's page removes this frame when it gets this reply.
      .finally(() => port.postMessage(null));
  };
  const welcome = await welcomeFor(address).catch((error) => {
    console.warn('antway: the settings could not be read', error);
    return null;
  });
  settingsId = welcome?.settingsId ?? '';
  port.postMessage(welcome);
});

async function welcomeFor(address: string): Promise<Welcome | null> {
  if (!(await isControlled())) return null;
  const body = JSON.stringify({ address });
  const [grant, records] = await Promise.all([
    ask<SiteGrant>('origins', 'POST', body),
    // A site can make its records large.
    Promise.race([handedRecords(body).catch(() => []), delay(recordsMs).then(() => [])]),
  ]);
  const manifest = grant.hasManifest ? await (await request(`manifests?id=${address}`)).blob() : null;
  return { ...grant, manifest, records };
}

async function handedRecords(body: string): Promise<Blob[]> {
  const form = await (await request('handed-records', 'POST', body)).formData();
  return form.getAll('record').filter((record) => record instanceof Blob);
}

/** If the user has not opened the gateway itself, its origin has no worker and no settings. */
async function isControlled(): Promise<boolean> {
  const { serviceWorker } = navigator;
  if (serviceWorker?.controller) return true;
  const registration = await serviceWorker?.getRegistration();
  if (!registration?.active) return false;
  return new Promise((resolve) => {
    setTimeout(resolve, controlMs, false);
    serviceWorker.addEventListener('controllerchange', () => resolve(true), { once: true });
    registration.active!.postMessage({ type: 'CLAIM' });
  });
}
