/** The changes that storing and deleting chunks make in the database. Each function runs inside one transaction. */

import { promisifyRequest } from 'idb-keyval';
import { Address } from '../address.ts';
import type { PinOwnerStores, WriteStores } from './indexed-db.ts';
import type { PinOwner } from './store.ts';
import { toStoredForm } from './stored-form.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

export interface Metadata {
  size: number;
  /** Milliseconds since 1970. Missing for a pinned chunk, so that the eviction index does not contain it. */
  lastUsed?: number;
}

export interface Totals {
  count: number;
  bytes: number;
}

/** Most chunks per transaction, so that reads never wait long for it. */
export const sliceChunks = 64;

const addressBytes = 32;

/**
 * Stores the chunks of a batch as far as there is room, and updates `lastUsed` of recently read chunks.
 * @returns the chunks that are in the database now, and the totals.
 */
export async function storeBatch(
  { chunks, metadata, pinReferences, totals }: WriteStores,
  batch: readonly VerifiedChunk[],
  touched: readonly Address[],
  { maxBytes, withBlobs }: { maxBytes: number; withBlobs: boolean },
): Promise<{ stored: VerifiedChunk[]; totals: Totals }> {
  const now = Date.now();
  const [before, known, owners, used] = await Promise.all([
    readTotals(totals),
    Promise.all(batch.map(({ address }) => metadataOf(metadata, address))),
    Promise.all(batch.map(({ address }) => anyReference(pinReferences, address))),
    Promise.all(touched.map((address) => metadataOf(metadata, address))),
  ]);
  const after = { ...before };
  const stored = batch.filter(({ address, bytes }, i) => {
    if (known[i]) return true;
    if (after.bytes + bytes.length > maxBytes) return false;
    chunks.put(toStoredForm(bytes, withBlobs), address.bytes);
    const metadatum: Metadata = { size: bytes.length, ...(owners[i] ? {} : { lastUsed: now }) };
    metadata.put(metadatum, address.bytes);
    after.count++;
    after.bytes += bytes.length;
    return true;
  });
  for (const [i, address] of touched.entries()) {
    const metadatum = used[i];
    if (metadatum?.lastUsed !== undefined) metadata.put({ ...metadatum, lastUsed: now }, address.bytes);
  }
  totals.put(after, 'all');
  return { stored, totals: after };
}

/** Deletes the least recently used chunks without a pin reference, until `bytes` are free or a slice is done. */
export async function evictSlice(
  stores: WriteStores,
  bytes: number,
): Promise<{ removed: RemovedChunks; isLast: boolean }> {
  const index = stores.metadata.index('lastUsed');
  const [values, keys] = await Promise.all([
    promisifyRequest<Metadata[]>(index.getAll(null, sliceChunks)),
    promisifyRequest(index.getAllKeys(null, sliceChunks)),
  ]);
  const removed: RemovedChunks = [];
  let freed = 0;
  for (const [i, { size }] of values.entries()) {
    if (freed >= bytes) break;
    freed += size;
    removed.push({ address: addressOfKey(keys[i]!), size });
  }
  await remove(stores, removed);
  return { removed, isLast: values.length < sliceChunks && removed.length === values.length };
}

export type RemovedChunks = { address: Address; size: number }[];

/** Deletes one chunk in spite of its pin references, because its bytes are damaged. */
export async function deleteChunk(stores: WriteStores, address: Address): Promise<RemovedChunks> {
  const known = await metadataOf(stores.metadata, address);
  const removed = known ? [{ address, size: known.size }] : [];
  await remove(stores, removed);
  return removed;
}

/**
 * Adds the owner's references to these chunks, so that none of them is evicted.
 * @returns the size in bytes of each stored chunk; undefined if the owner does not exist (any more).
 */
export async function addPinReferences(
  { metadata, pinReferences, pins }: PinOwnerStores,
  owner: Address,
  addresses: readonly Address[],
): Promise<(number | undefined)[] | undefined> {
  const [isOwner, known] = await Promise.all([
    isPinOwner(pins, owner),
    Promise.all(addresses.map((address) => metadataOf(metadata, address))),
  ]);
  if (!isOwner) return undefined;
  for (const [i, address] of addresses.entries()) {
    pinReferences.put({ chunk: address.bytes }, referenceKey(owner, address));
    const metadatum = known[i];
    if (metadatum?.lastUsed !== undefined) metadata.put({ size: metadatum.size }, address.bytes);
  }
  return known.map((metadatum) => metadatum?.size);
}

/**
 * Removes a slice of an owner's references, and deletes the chunks without another reference.
 * @param after the last chunk of the previous slice.
 * @param except chunks (hex) whose references stay; only for an owner that exists. Without `except`, the owner must not
 *   exist: it may have been pinned again in the meantime. Otherwise nothing is done.
 * @returns the last chunk of the slice; undefined if there are no more.
 */
export async function removePinReferencesSlice(
  stores: PinOwnerStores,
  owner: Address,
  after: Address | undefined,
  except: ReadonlySet<string> | undefined,
): Promise<{ removed: RemovedChunks; last: Address | undefined }> {
  if ((await isPinOwner(stores.pins, owner)) !== (except !== undefined))
    return { removed: [], last: undefined };
  const from = after ? referenceKey(owner, after) : referenceKey(owner, lowest);
  const range = IDBKeyRange.bound(from, referenceKey(owner, highest), after !== undefined);
  const keys = await promisifyRequest(stores.pinReferences.getAllKeys(range, sliceChunks));
  const referenced = keys.map((key) => Address.fromBytes(new Uint8Array(key as ArrayBuffer, addressBytes)));
  const released = referenced.filter(({ hex }) => !except?.has(hex));
  for (const address of released) stores.pinReferences.delete(referenceKey(owner, address));
  return { removed: await freeChunks(stores, released), last: referenced.at(-1) };
}

export async function freeChunks(stores: WriteStores, addresses: readonly Address[]): Promise<RemovedChunks> {
  const [known, owners] = await Promise.all([
    Promise.all(addresses.map((address) => metadataOf(stores.metadata, address))),
    Promise.all(addresses.map((address) => anyReference(stores.pinReferences, address))),
  ]);
  const removed: RemovedChunks = [];
  for (const [i, address] of addresses.entries()) {
    const size = known[i]?.size;
    if (size !== undefined && !owners[i]) removed.push({ address, size });
  }
  await remove(stores, removed);
  return removed;
}

/** Whether the pin exists. A pin that is being removed does not count. */
async function isPinOwner(pins: IDBObjectStore, { bytes }: Address): Promise<boolean> {
  const pin = await promisifyRequest<PinOwner | undefined>(pins.get(bytes));
  return pin !== undefined && pin.status !== 'removed';
}

async function readTotals(totals: IDBObjectStore): Promise<Totals> {
  return (await promisifyRequest<Totals | undefined>(totals.get('all'))) ?? { count: 0, bytes: 0 };
}

export function addressOfKey(key: IDBValidKey): Address {
  return Address.fromBytes(new Uint8Array(key as ArrayBuffer));
}

async function remove({ chunks, metadata, totals }: WriteStores, removed: RemovedChunks): Promise<void> {
  if (removed.length === 0) return;
  const { count, bytes } = await readTotals(totals);
  let freed = 0;
  for (const { address, size } of removed) {
    chunks.delete(address.bytes);
    metadata.delete(address.bytes);
    freed += size;
  }
  totals.put({ count: count - removed.length, bytes: bytes - freed } satisfies Totals, 'all');
}

function metadataOf(metadata: IDBObjectStore, { bytes }: Address): Promise<Metadata | undefined> {
  return promisifyRequest(metadata.get(bytes));
}

function anyReference(pinReferences: IDBObjectStore, { bytes }: Address): Promise<IDBValidKey | undefined> {
  return promisifyRequest(pinReferences.index('chunk').getKey(bytes));
}

const lowest = Address.fromBytes(new Uint8Array(addressBytes));
const highest = Address.fromBytes(new Uint8Array(addressBytes).fill(0xff));

function referenceKey(owner: Address, chunk: Address): Uint8Array<ArrayBuffer> {
  const key = new Uint8Array(2 * addressBytes);
  key.set(owner.bytes);
  key.set(chunk.bytes, addressBytes);
  return key;
}
