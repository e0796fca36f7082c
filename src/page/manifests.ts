import { parseAddressText } from '../address-text.ts';
import { wholeManifestOfLink } from '../content/manifest.ts';
import { DropInError } from '../drop-in/error.ts';
import type { AntManifest } from './types.ts';
import type { WorkerRequests } from './worker-requests.ts';

interface StoredManifest {
  id: string;
  name: string | null;
  entries: number;
  isStored: boolean;
}

/** The manifests that the worker stores: they open private content. @throws as `WorkerRequests.request`. */
export function pageManifests({ request, json }: WorkerRequests) {
  return {
    async list(): Promise<AntManifest[]> {
      return (await json<StoredManifest[]>('manifests')).map(publicManifest);
    },
    /** @throws also DropInError `BAD_ADDRESS`, AntError `CORRUPT`, `UNSUPPORTED`, `TOO_LARGE`. */
    async add(manifest: string | URL | Blob | BufferSource): Promise<AntManifest> {
      const body = bytesOf(manifest);
      return publicManifest(await json<StoredManifest>('manifests', { method: 'POST', body }));
    },
    async read(address: string): Promise<Uint8Array<ArrayBuffer>> {
      return new Uint8Array(await (await request(`manifests?id=${address}`)).arrayBuffer());
    },
    async remove(address: string): Promise<void> {
      await request(`manifests?id=${address}`, { method: 'DELETE' });
    },
  };
}

function publicManifest({ id, name, entries, isStored }: StoredManifest): AntManifest {
  return { address: id, name, files: entries, isStored };
}

/** @throws DropInError `BAD_ADDRESS` for a text that is no link to a manifest. */
function bytesOf(manifest: string | URL | Blob | BufferSource): Blob | BufferSource {
  if (typeof manifest !== 'string' && !(manifest instanceof URL)) {
    if (manifest instanceof Blob || manifest instanceof ArrayBuffer || ArrayBuffer.isView(manifest)) {
      return manifest;
    }
    throw new DropInError('BAD_ADDRESS', 'A manifest is a link, a Blob or bytes.');
  }
  const parsed = parseAddressText(String(manifest));
  // The text may have the keys of private files, so it is in no message.
  if (!('manifest' in parsed)) throw new DropInError('BAD_ADDRESS', 'The text is no link to a manifest.');
  try {
    return wholeManifestOfLink(`ant://manifest/${parsed.manifest}`);
  } catch (cause) {
    throw new DropInError('BAD_ADDRESS', (cause as Error).message, undefined, { cause });
  }
}
