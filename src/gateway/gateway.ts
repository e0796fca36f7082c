import { Chunks } from '../chunks/chunks.ts';
import { IndexedDbStore } from '../chunks/indexed-db-store.ts';
import type { ChunkStore } from '../chunks/store.ts';
import type { Config } from '../config.ts';
import { Resolver } from '../content/resolver.ts';
import { AntwayError, asAntwayError, type ErrorCode, isAbort } from '../errors.ts';
import { PeerPool } from '../peers/pool.ts';
import { Codec, type CodecPlatform } from '../self-encryption/codec.ts';
import type { Stats } from '../stats/stats.ts';
import { answerContent } from './content-response.ts';
import { errorResponse, isNavigation } from './error-response.ts';
import { answerInternal } from './internal.ts';
import { RecentSites } from './recent.ts';
import { respond } from './representation.ts';
import type { StatsBroadcast } from './stats-broadcast.ts';
import { type ContentTarget, parseTarget } from './target.ts';

/** What the worker knows of a request that the request does not tell. */
export interface RequestContext {
  /** Keeps the worker alive until the promise is done. */
  waitUntil(work: Promise<unknown>): void;
  /** Whether the request may use `/-/…`: it comes from the shell and not from content. */
  isFromShell(): Promise<boolean>;
  /** What is wrong with the host's configuration, while an earlier one stays in force; null when nothing is. */
  readonly configProblem: string | null;
}

/** Request in, response out: the part of Antway that a browser sees. */
export class Gateway {
  readonly #config: Config;
  readonly #stats: Stats;
  readonly #store: ChunkStore;
  readonly #peers: PeerPool;
  readonly #resolver: Resolver;
  readonly #broadcast: StatsBroadcast;
  readonly #recent = new RecentSites();

  constructor(config: Config, platform: CodecPlatform, stats: Stats, broadcast: StatsBroadcast) {
    this.#config = config;
    this.#stats = stats;
    this.#broadcast = broadcast;
    this.#store = new IndexedDbStore(config.cache.maxBytes, stats);
    this.#peers = new PeerPool(config.peers, stats);
    const chunks = new Chunks({
      codec: new Codec(platform),
      store: this.#store,
      peers: this.#peers,
      stats,
      memoryBytes: config.cache.memoryBytes,
    });
    this.#resolver = new Resolver(chunks);
  }

  /**
   * Answers a request of the gateway's own origin. Never rejects: every error becomes an answer.
   * @returns undefined for what is not the gateway's: the shell and its assets.
   */
  handle(request: Request, context: RequestContext): Promise<Response> | undefined {
    try {
      const target = parseTarget(new URL(request.url), this.#config.names);
      if (target.kind === 'other') return undefined;
      if (target.kind === 'internal') return this.#internal(target.name, request, context);
      return this.#content(target.content, request, context);
    } catch (error) {
      return Promise.resolve(errorResponse(asAntwayError(error), request));
    }
  }

  /** Ends the sessions with peers; for when another configuration takes over. */
  close(): void {
    this.#peers.close();
  }

  async #internal(name: string, request: Request, context: RequestContext): Promise<Response> {
    try {
      if (!(await context.isFromShell())) {
        throw new AntwayError('REFUSED', 'These endpoints are for the gateway’s own pages only.');
      }
      return await answerInternal(name, request, {
        config: this.#config,
        store: this.#store,
        peers: this.#peers,
        stats: this.#stats,
        broadcast: this.#broadcast,
        recent: this.#recent,
        configProblem: context.configProblem,
      });
    } catch (error) {
      return errorResponse(asAntwayError(error), request);
    }
  }

  async #content(target: ContentTarget, request: Request, context: RequestContext): Promise<Response> {
    this.#stats.requestStarted();
    let hasEnded = false;
    let written = () => {};
    context.waitUntil(
      new Promise<void>((resolve) => {
        written = resolve;
      }),
    );
    const observer = {
      sent: (bytes: number) => this.#stats.served(bytes),
      ended: (failure?: ErrorCode) => {
        if (hasEnded) return;
        hasEnded = true;
        this.#stats.requestEnded(failure);
        // What was fetched for this answer gets to disk before the browser may stop the worker.
        this.#store.flush().then(written, written);
      },
    };
    try {
      this.#admit(target, request);
      if (request.method === 'OPTIONS') {
        observer.ended();
        return new Response(null, { status: 204, headers: { Allow: 'GET, HEAD, OPTIONS' } });
      }
      const answer = await answerContent(target, {
        resolver: this.#resolver,
        isTrusted: this.#config.trusted.has(target.address.hex),
        accept: request.headers.get('Accept'),
        signal: request.signal,
      });
      if (answer.kind === 'redirect') {
        observer.ended();
        return new Response(null, { status: 301, headers: { Location: answer.location } });
      }
      const response = await respond(answer.representation, request, request.signal, observer);
      if (isNavigation(request) && request.destination === 'document') {
        context.waitUntil(this.#recent.add(target).catch((error) => console.warn('antway: history', error)));
      }
      return response;
    } catch (error) {
      const failure = asAntwayError(error);
      observer.ended(isAbort(error, request.signal) ? undefined : failure.code);
      failure.details.address ??= target.address.hex;
      return errorResponse(failure, request);
    }
  }

  /** @throws AntwayError `METHOD`, `DENIED`, or `REFUSED` for content that is asked for as a worker's script. */
  #admit({ address }: ContentTarget, request: Request): void {
    if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method)) {
      throw new AntwayError('METHOD', `${request.method} is not possible: content is read-only.`);
    }
    if (this.#config.denied.has(address.hex)) {
      throw new AntwayError('DENIED', 'The host of this gateway has blocked this address.');
    }
    if (request.headers.get('Service-Worker') === 'script') {
      throw new AntwayError('REFUSED', 'Content may not register a service worker on the gateway.');
    }
  }
}
