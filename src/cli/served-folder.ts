import type { Address } from '../address.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { MemoryPeerStore } from '../node-peer/peer-store.ts';
import type { ChunkSink } from '../publish/upload.ts';
import type { Output } from './output.ts';
import { publicationAt, publishTo, summaryOf } from './publish-path.ts';

/** The versions whose chunks stay in memory: open pages may still read the former ones. */
const keptVersions = 3;
const maxBytes = 2 * 1024 ** 3;

export interface ServedVersion {
  address: Address;
  files: number;
  /** In bytes. */
  size: number;
}

/** A folder that is published into memory, again after each change. */
export class ServedFolder {
  readonly store = new MemoryPeerStore(maxBytes);
  readonly #path: string;
  readonly #ignore: readonly string[];
  readonly #output: Output;
  /** The addresses of the chunks of each version, in hex. The newest version is the last. */
  readonly #versions: Set<string>[] = [];
  #current: ServedVersion | undefined;

  constructor(path: string, ignore: readonly string[], output: Output) {
    this.#path = path;
    this.#ignore = ignore;
    this.#output = output;
  }

  get current(): ServedVersion | undefined {
    return this.#current;
  }

  /**
   * Publishes the folder as it is now.
   * @returns whether its address is another one than before.
   * @throws AntwayError as `publicationAt` and `publishTo`; `TOO_LARGE` if the memory for chunks is full.
   */
  async publish(signal: AbortSignal): Promise<boolean> {
    const publication = await publicationAt(this.#path, this.#ignore, this.#output);
    const chunks = new Set<string>();
    const sink: ChunkSink = {
      store: async ({ address, bytes }) => {
        chunks.add(address.hex);
        const outcome = await this.store.write(address, bytes);
        if (outcome === 'full') {
          throw new AntwayError('TOO_LARGE', 'The folder is too large to be served from memory.');
        }
        return outcome;
      },
    };
    const { address, size } = await publishTo(sink, publication, this.#output, signal).catch((error) => {
      // The chunks of this version would leave no room for a smaller one.
      this.#retainVersions();
      throw error;
    });
    if (this.#current?.address.equals(address)) return false;
    this.#versions.push(chunks);
    this.#versions.splice(0, Math.max(0, this.#versions.length - keptVersions));
    this.#retainVersions();
    this.#current = { address, files: summaryOf(publication).files, size };
    return true;
  }

  #retainVersions(): void {
    this.store.retain(new Set(this.#versions.flatMap((version) => [...version])));
  }

  /** As `publish`, after a change. A failure is reported, and the version before stays in place. */
  async update(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.publish(signal);
    } catch (error) {
      if (signal.aborted) return false;
      const { code, message } = asAntwayError(error);
      this.#output.note(`${code}: ${message} The version before stays in place.`);
      return false;
    }
  }
}
