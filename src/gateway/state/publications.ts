import { del, get, promisifyRequest, type UseStore } from 'idb-keyval';
import * as v from 'valibot';
import { Address, hexAddress } from '../../address.ts';
import * as s from '../../schema.ts';
import { type EncryptedRecord, EncryptedRecords, publicationPrefix } from './encrypted-records.ts';
import { stateStore } from './state-store.ts';

/** UTF-16 units. */
const mostTitleCharacters = 400;
const mostPeers = 100;
/** Hex of all chunk addresses: enough for about 650,000 chunks. */
const mostHexDigits = 64 * 650_000;

const id = v.pipe(hexAddress, v.toLowerCase());

const properties = s.object({
  /** The address of public content. For private content the BLAKE3 of its manifest. It opens as `/<id>/`. */
  id,
  isPrivate: v.boolean(),
  /** A folder is published as an archive, and opens with a slash at its end. */
  isFolder: v.boolean(),
  title: v.pipe(v.string(), v.maxLength(mostTitleCharacters, 'it is too long')),
  /** The name of the folder or file. Empty for several files without a folder. */
  name: v.pipe(v.string(), v.maxLength(1_000, 'it is too long')),
  files: s.integer('files'),
  /** Bytes of the files. */
  bytes: s.integer('bytes'),
  /** The addresses of all uploaded chunks, 64 hex digits each, one after the other. */
  chunks: v.pipe(
    v.string(),
    v.maxLength(mostHexDigits, 'it is too long'),
    v.check((text) => text.length % 64 === 0 && /^[0-9a-f]*$/.test(text), 'it must be hex addresses'),
  ),
  /** The URLs of the peers that accepted all chunks. */
  peers: s.list(v.pipe(v.string(), v.maxLength(2_000, 'it is too long')), mostPeers),
  /** Milliseconds since 1970. */
  publishedAt: s.integer('milliseconds'),
  /** The id of the publication that this one replaces, if any. */
  replaces: v.nullable(id),
});

/** Content that the user published from this browser. */
export type Publication = v.InferOutput<typeof properties>;

/** The most bytes of a publication as JSON. */
export const mostPublicationBytes = mostHexDigits + 1024 * 1024;

/** @throws AntwayError `REFUSED` if the value is not a publication. */
export function parsePublication(value: unknown): Publication {
  return s.parse(properties, value, 'REFUSED', 'The publication');
}

const range = () => IDBKeyRange.bound(publicationPrefix, `${publicationPrefix}\uffff`);

/**
 * The user's publications, by id. Titles and names of private content must not be readable on disk, so all records are
 * encrypted. `ManifestStore.clear` deletes them with the key.
 */
export class Publications {
  readonly #state: UseStore;
  readonly #records: EncryptedRecords;

  constructor(state: UseStore) {
    this.#state = state;
    this.#records = new EncryptedRecords(state);
  }

  /**
   * Newest first. Leaves out records that the browser cannot decrypt any more.
   * @throws AntwayError `REFUSED` if storage is blocked.
   */
  async list(): Promise<Publication[]> {
    const records = await this.#state('readonly', (store) =>
      promisifyRequest<EncryptedRecord[]>(store.getAll(range())),
    );
    const read = await Promise.allSettled(records.map((record) => this.#read(record)));
    const lost = read.filter(({ status }) => status === 'rejected').length;
    if (lost > 0) console.warn(`antway: ${lost} of the publications stored here cannot be read any more`);
    return read
      .flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      .sort((a, b) => b.publishedAt - a.publishedAt);
  }

  /**
   * Stores a publication. The same content has the same id: then the peers of both are listed, and the older link to a
   * replaced publication stays.
   * @throws AntwayError `REFUSED` if storage is blocked.
   */
  async add(publication: Publication): Promise<void> {
    const before = await this.find(publication.id);
    const { id, replaces } = publication;
    await this.#put({
      ...publication,
      peers: [...new Set([...publication.peers, ...(before?.peers ?? [])])].slice(0, mostPeers),
      replaces: replaces === id || replaces === null ? (before?.replaces ?? null) : replaces,
    });
  }

  /**
   * Stores a publication of another library. If its content is listed here already, only its peers are added.
   * @throws AntwayError `REFUSED` if storage is blocked.
   */
  async restore(publication: Publication): Promise<void> {
    const before = await this.find(publication.id);
    if (!before) return this.#put(publication);
    const peers = [...new Set([...before.peers, ...publication.peers])].slice(0, mostPeers);
    if (peers.length > before.peers.length) await this.#put({ ...before, peers });
  }

  async #put(publication: Publication): Promise<void> {
    const parsed = parsePublication(publication);
    await this.#records.put([
      [publicationPrefix + parsed.id, new TextEncoder().encode(JSON.stringify(parsed))],
    ]);
  }

  /** Undefined also for a record that the browser cannot decrypt any more. */
  async find(id: string): Promise<Publication | undefined> {
    const record = await get<EncryptedRecord>(publicationPrefix + id, this.#state);
    return record && this.#read(record).catch(() => undefined);
  }

  async #read(record: EncryptedRecord): Promise<Publication> {
    const json = new TextDecoder().decode(await this.#records.decrypt(record));
    return s.parse(properties, JSON.parse(json), 'CORRUPT');
  }

  /** Removes the record. The content stays at its peers. */
  async remove({ id }: Pick<Publication, 'id'>): Promise<void> {
    await del(publicationPrefix + id, this.#state);
  }
}

/** The publications of the user in this browser. */
export const publications = new Publications(stateStore);

/** The addresses of all uploaded chunks. */
export function chunksOf({ chunks }: Pick<Publication, 'chunks'>): Address[] {
  return Array.from({ length: chunks.length / 64 }, (_, i) =>
    Address.fromHex(chunks.slice(64 * i, 64 * i + 64)),
  );
}
