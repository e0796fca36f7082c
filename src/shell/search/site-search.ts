import { GatewayApiError, gateway, type ListedSite } from '../gateway-api.ts';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import { searchTexts } from '../texts/search.ts';
import type { IncomingDocument, SearchAnswer, SearchRequest } from './messages.ts';
import type { FoundDocument } from './text-index.ts';
import { type DocumentType, documentTypeOf } from './text-of.ts';

type Work = SearchRequest extends infer Each
  ? Each extends SearchRequest
    ? Omit<Each, 'id'>
    : never
  : never;
type Answered = Extract<SearchAnswer, { found: unknown }>;

/** The most documents of one site. */
const mostDocuments = 1_000;
const batchDocuments = 20;

/**
 * Searches the text of pinned sites. The index is in the memory of a worker of this page and nowhere else: on disk, it
 * would be plaintext. It is built from stored chunks. No peer is asked.
 */
export class SiteSearch {
  readonly #worker = new Worker(new URL('./search-worker.ts', import.meta.url), { type: 'module' });
  readonly #waiting = new Map<number, { resolve(answer: Answered): void; reject(error: Error): void }>();
  readonly #indexed = new Set<string>();
  #requests = 0;
  #synchronising: Promise<boolean> = Promise.resolve(false);

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<SearchAnswer>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('error' in data) waiting?.reject(new GatewayApiError('INTERNAL', data.error));
      else waiting?.resolve(data);
    };
    this.#worker.onerror = ({ message }) => {
      const error = new GatewayApiError('WORKER_BROKEN', searchTexts().workerFailed(message ?? ''), {
        isTranslated: true,
      });
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
  }

  /**
   * Adds the sites that are pinned completely to the index, and removes all others.
   * @returns whether the index has no room for all of them.
   */
  synchronise(sites: readonly ListedSite[]): Promise<boolean> {
    this.#synchronising = this.#synchronising.catch(() => false).then(() => this.#synchronise(sites));
    return this.#synchronising;
  }

  async search(query: string): Promise<FoundDocument[]> {
    return (await this.#ask({ task: 'search', query })).found;
  }

  async #synchronise(sites: readonly ListedSite[]): Promise<boolean> {
    const wanted = new Map(sites.filter(isSearched).map((site) => [site.address, site]));
    for (const site of this.#indexed) {
      if (wanted.has(site)) continue;
      this.#indexed.delete(site);
      await this.#ask({ task: 'remove', site });
    }
    let isFull = false;
    for (const [address, site] of wanted) {
      if (this.#indexed.has(address)) continue;
      try {
        isFull = await this.#add(site);
        this.#indexed.add(address);
      } catch (error) {
        // Search the other sites. The next call tries this one again.
        console.warn(`antway: the text of ${address} cannot be searched`, error);
        await this.#ask({ task: 'remove', site: address });
      }
      if (isFull) break;
    }
    return isFull;
  }

  async #add(site: ListedSite): Promise<boolean> {
    const at = site.hasOwnOrigin ? siteOriginClient : gateway;
    const documents = (await at.files(site.address)).flatMap((path) => {
      const type = documentTypeOf(path) ?? (path === '' ? typeOfFile(site) : undefined);
      return type ? [{ path, type }] : [];
    });
    const chosen = documents.slice(0, mostDocuments);
    let isFull = false;
    for (let i = 0; i < Math.max(chosen.length, 1) && !isFull; i += batchDocuments) {
      const batch: IncomingDocument[] = [];
      for (const { path, type } of chosen.slice(i, i + batchDocuments)) {
        batch.push({ path, type, bytes: await (await at.file(site.address, path)).arrayBuffer() });
      }
      ({ isFull } = await this.#ask({ task: 'add', site: site.address, documents: batch }));
    }
    return isFull;
  }

  #ask(work: Work): Promise<Answered> {
    const id = ++this.#requests;
    const request = { ...work, id } as SearchRequest;
    const transfer = request.task === 'add' ? request.documents.map(({ bytes }) => bytes) : [];
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage(request, transfer);
    });
  }
}

/** Whether the text of a site can be read without a peer. */
export function isSearched({ pin }: Pick<ListedSite, 'pin'>): boolean {
  return pin?.state === 'complete';
}

/** The type of content that is one file. */
function typeOfFile({ type, title }: ListedSite): DocumentType | undefined {
  if (type?.startsWith('text/html')) return 'html';
  if (type?.startsWith('text/plain') || type?.startsWith('text/markdown')) return 'text';
  return title ? documentTypeOf(title) : undefined;
}
