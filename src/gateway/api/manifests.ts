import { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { apiHeaders } from '../http/policy.ts';
import type { ManifestStore } from '../state/manifest-store.ts';
import { required } from './body.ts';
import type { Endpoint } from './endpoint.ts';
import { listed } from './storage.ts';

/** `/-/manifests`: the manifests of private sites on this device. */
export const manifests: Endpoint = {
  GET: (url, _request, { manifests }) =>
    url.searchParams.has('id') ? manifestOf(url, manifests) : listed(manifests.list()),
  async POST(url, request, { manifests }) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    return url.searchParams.has('check') ? manifests.describe(bytes) : manifests.add(bytes);
  },
  async DELETE(url, _, { manifests, resolver }) {
    const id = Address.fromHex(required(url.searchParams.get('id'), 'id'));
    await manifests.remove(id);
    resolver.forget(id);
  },
};

async function manifestOf({ searchParams }: URL, manifests: ManifestStore): Promise<Response> {
  const bytes = await manifests.get(Address.fromHex(required(searchParams.get('id'), 'id')));
  if (!bytes) throw new AntwayError('NOT_FOUND', 'No such manifest is stored on this device.');
  return new Response(bytes, {
    headers: { ...apiHeaders(), 'Content-Type': 'application/vnd.autonomi.manifest' },
  });
}
