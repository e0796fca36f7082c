import { del, get, type UseStore } from 'idb-keyval';
import type { Content } from '../../content/resolver.ts';
import { type EncryptedRecord, EncryptedRecords } from './encrypted-records.ts';

const name = 'recent-files';

/** Bounds of all names, and of those of one site. Any site can have 100,000 long names. */
const most = { sites: 30, filesPerSite: 1_000, charactersPerSite: 32_768 };

/** The names of the files in a site that was opened. */
export interface FilesOfSite {
  /** Hex. */
  address: string;
  files: string[];
}

/**
 * The names of the files in the sites that were opened last. They are taken at the visit, while the index of the site is in
 * memory: to read the indexes again for each search could take seconds. Encrypted, because names can be private.
 */
export class RecentFiles {
  readonly #state: UseStore;
  readonly #records: EncryptedRecords;
  /** Changes one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(state: UseStore) {
    this.#state = state;
    this.#records = new EncryptedRecords(state);
  }

  note(address: string, content: Content): Promise<void> {
    const files: string[] = [];
    let room = most.charactersPerSite;
    for (const path of content.kind === 'archive' ? content.archive.members.keys() : []) {
      room -= path.length;
      if (room < 0 || files.length === most.filesPerSite) break;
      files.push(path);
    }
    return this.#change(address, files.length > 0 ? [{ address, files }] : []);
  }

  remove(address: string): Promise<void> {
    return this.#change(address, []);
  }

  /** Newest first. */
  async list(): Promise<FilesOfSite[]> {
    const record = await get<EncryptedRecord>(name, this.#state);
    if (!record) return [];
    // Without its key, the record says nothing any more.
    const bytes = await this.#records.decrypt(record).catch(() => undefined);
    return bytes ? JSON.parse(new TextDecoder().decode(bytes)) : [];
  }

  async clear(): Promise<void> {
    await del(name, this.#state);
    this.#records.forgetKey();
  }

  #change(address: string, first: FilesOfSite[]): Promise<void> {
    const change = async () => {
      const others = (await this.list()).filter((each) => each.address !== address);
      const sites = [...first, ...others].slice(0, most.sites);
      await this.#records.put([[name, new TextEncoder().encode(JSON.stringify(sites))]]);
    };
    const changed = this.#last.then(change);
    this.#last = changed.catch(() => undefined);
    return changed;
  }
}
