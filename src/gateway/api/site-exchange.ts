import { blake3 } from '@noble/hashes/blake3.js';
import { Address } from '../../address.ts';
import type { ChunkStore } from '../../chunks/store.ts';
import { VerifiedChunk } from '../../chunks/verified-chunk.ts';
import { checkManifestSize } from '../../content/manifest.ts';
import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { loadBlake3 } from '../../self-encryption/blake3.ts';
import type { ManifestStore } from '../state/manifest-store.ts';
import { deniedHash, type SiteSettings } from '../state/site-settings.ts';
import { required } from './body.ts';
import type { ApiContext } from './endpoint.ts';

/** The reply of the gateway's own origin to a site's origin. */
export interface SiteGrant {
  settings: SiteSettings;
  /** Identifies the settings. It does not depend on the space that other sites leave. */
  settingsId: string;
  /** Whether the site is a manifest that is stored here and that the site's origin needs. */
  hasManifest: boolean;
}

export async function settingsForSite(
  address: Address,
  { effective, configuration, trust, manifests, origins, store, appearance: chosen }: ApiContext,
): Promise<SiteGrant> {
  const own = await configuration.settings();
  const { peers, usePeersOfPeers, transport, useNodes, cache, denied = [] } = own;
  const decisions = await trust.list().catch(() => []);
  const appearance = await chosen.get().catch(() => ({ language: null, theme: null }));
  const settings: SiteSettings = {
    settings: {
      ...(peers && { peers }),
      ...(usePeersOfPeers !== undefined && { usePeersOfPeers }),
      ...(transport && { transport }),
      ...(useNodes !== undefined && { useNodes }),
      ...(cache?.memoryBytes !== undefined && { cache: { memoryBytes: cache.memoryBytes } }),
    },
    deniedHashes: denied.map((hex) => deniedHash(address, Address.fromHex(hex))).sort(),
    runsScripts: !decisions.some(
      ({ address: hex, decision }) => hex === address.hex && decision === 'restricted',
    ),
    appearance,
  };
  const hasManifest = await manifests.has(address);
  const identified = new TextEncoder().encode(JSON.stringify({ settings, hasManifest }));
  const settingsId = Address.fromBytes(blake3(identified)).hex;
  const { bytes } = await store.summary();
  const storedBytes = bytes + (await origins.storedBytes(address));
  const maxBytes = Math.max(
    effective.config.cache.maxBytes - storedBytes,
    Math.min(limits.leastStoreBytes, effective.config.cache.maxBytes),
  );
  settings.settings.cache = { ...settings.settings.cache, maxBytes: coarse(maxBytes) };
  return { settings, settingsId, hasManifest };
}

/** Rounds down to a power of two. An exact limit would reveal how other sites grow, so which sites the user opens. */
function coarse(bytes: number): number {
  return 2 ** Math.floor(Math.log2(bytes));
}

/**
 * On a site's own origin: accepts the reply of `settingsForSite`, and the site's manifest if there is one.
 * @param request a form with `settings` (`SiteSettings` as JSON, or null if the gateway's own origin did not reply) and
 *   optionally the file `manifest` and files `record`: records of the site that the gateway's own origin has read already.
 * @throws AntwayError `REFUSED` for a body of another form or another site's manifest, `BAD_CONFIG`, `TOO_LARGE`.
 */
export async function receiveSettings(
  address: Address,
  request: Request,
  { configuration, manifests, resolver, store, appearance: chosen }: ApiContext,
): Promise<void> {
  const form = await request.formData().catch((cause) => {
    throw new AntwayError('REFUSED', 'The body is not a form.', {}, { cause });
  });
  const manifest = form.get('manifest');
  // Security: a script of the site can make the storage of the manifest fail. The settings must arrive all the same.
  let failure: unknown;
  if (manifest instanceof Blob) {
    await addManifest(address, manifest, manifests).catch((error) => {
      failure = error;
    });
    resolver.forget(address);
  }
  const settings = required(form.get('settings'), 'settings');
  let value: unknown;
  try {
    value = JSON.parse(settings);
  } catch (cause) {
    throw new AntwayError('REFUSED', 'settings: it is not JSON.', {}, { cause });
  }
  const { appearance } = await configuration.received!.put(value);
  await chosen.set(appearance).catch(() => undefined);
  // The site loads from a peer what is not stored here.
  await storeRecords(form.getAll('record'), store).catch((error) =>
    console.warn('antway: the records of the gateway’s origin are not stored', error),
  );
  if (failure) throw failure;
}

/** Stores each file under the hash of its bytes, so it can only serve as what it is. */
async function storeRecords(files: readonly unknown[], store: ChunkStore): Promise<void> {
  const hash = await loadBlake3();
  let size = 0;
  for (const file of files.slice(0, limits.handed.records)) {
    if (!(file instanceof Blob) || file.size > limits.chunkBytes) continue;
    size += file.size;
    if (size > limits.handed.bytes) return;
    await store.put(VerifiedChunk.of(new Uint8Array(await file.arrayBuffer()), hash));
  }
}

async function addManifest(address: Address, manifest: Blob, manifests: ManifestStore): Promise<void> {
  checkManifestSize(manifest.size);
  const { id } = await manifests.add(new Uint8Array(await manifest.arrayBuffer()));
  if (id === address.hex) return;
  await manifests.remove(Address.fromHex(id));
  throw new AntwayError('REFUSED', 'This is the manifest of another site.', { address: address.hex });
}
