import type { UseStore } from 'idb-keyval';
import { Chunks } from '../chunks/chunks.ts';
import type { PinningStore } from '../chunks/store.ts';
import type { Config } from '../config.ts';
import { DataMaps } from '../content/data-maps.ts';
import { DecryptedChunks } from '../content/decrypted-chunks.ts';
import { Resolver, type ResolverOptions } from '../content/resolver.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { Library } from '../library/library.ts';
import { limits } from '../limits.ts';
import type { NodesStatus } from '../nodes/nodes.ts';
import type { ChunkPeers, NodeSource } from '../peers/chunk-peers.ts';
import { noPeers } from '../peers/no-peers.ts';
import type { PendingLookup } from '../peers/selection/pending-lookups.ts';
import { type NetworkOfPeer, type PeerDescription, PeerPool } from '../peers/selection/pool.ts';
import { Codec, type CodecPlatform } from '../self-encryption/codec.ts';
import { Stats } from '../stats/stats.ts';
import { StatsBroadcast } from './api/broadcast.ts';
import type { ApiContext } from './api/endpoint.ts';
import { ContentHandler } from './content-handler.ts';
import type { Deployment } from './deployment.ts';
import { ForeignNavigations } from './foreign-navigations.ts';
import { OwnOrigins } from './origins/own-origins.ts';
import { RecordHandover } from './origins/record-handover.ts';
import { WildcardHosts } from './origins/wildcard-hosts.ts';
import { errorResponse } from './pages/error-response.ts';
import type { RequestContext } from './request-context.ts';
import { RequestHandler } from './request-handler.ts';
import { ActivityStore } from './state/activity-store.ts';
import { ChosenAppearance } from './state/appearance.ts';
import { Configuration, type EffectiveConfig } from './state/configuration.ts';
import { FrameJournal } from './state/frame-journal.ts';
import { ManifestStore } from './state/manifest-store.ts';
import { PointerStore } from './state/pointer-store.ts';
import { RecentFiles } from './state/recent-files.ts';
import type { ServerConfigSource } from './state/server-config-file.ts';
import { SiteOrigins } from './state/site-origins.ts';
import { Trust } from './state/trust.ts';
import { TrustTokens } from './state/trust-tokens.ts';

export interface GatewayPeers extends ChunkPeers {
  describe(): PeerDescription[];
  /** The records that peers are looking up now. */
  lookups(): PendingLookup[];
  /** The connections to the network's nodes. Undefined if there are none. */
  nodesStatus?(): Promise<NodesStatus | undefined>;
  /** Asks each peer for the state of its network. Waits only for a short time. */
  networks(): Promise<NetworkOfPeer[]>;
  /** Finds out which peers answer. @param isForced whether to ask peers again that answered recently. */
  check(isForced: boolean): Promise<void>;
  /** Opens sessions that the rest of a page may need. */
  warm(): void;
  /** Clears the failures that peers had without a network. */
  wake(): void;
  close(): void;
}

export interface GatewayStore extends PinningStore {
  readonly pins: UseStore;
  readonly inventories: UseStore;
  setMaxBytes(bytes: number): Promise<void>;
}

export interface GatewayDependencies {
  /** Counters of the gateway. They outlive a change of the configuration. */
  stats: Stats;
  store: GatewayStore;
  /** The database for all other data: decisions, settings, visits, manifests. */
  state: UseStore;
  platform: CodecPlatform;
  serverConfig: ServerConfigSource;
  /** Creates the peers for a configuration. Default: `PeerPool`. */
  peers?: (config: Config, stats: Stats) => GatewayPeers;
  /** The network's nodes. They are used only if the user allows it. */
  nodes?: NodeSource;
  notify: (message: object) => void;
  /** Hash of the build that the host serves. It proves that a site's host name leads to the same host. */
  buildHash?: string | null;
}

export interface Gateway {
  readonly stats: Stats;
  /** Never rejects: every error becomes a response. @returns undefined if the URL does not belong to the gateway. */
  handle(request: Request, context: RequestContext): Promise<Response | undefined>;
  /**
   * Fetches the server config, and on a site's own origin what its first page needs. On the gateway's own origin it starts
   * what the first page waits for. Never rejects.
   */
  prepare(): Promise<void>;
  /** Whether the URL is an endpoint of a configured peer, under any name of this machine. Never rejects. */
  isOfPeer(url: URL): boolean | Promise<boolean>;
  /** Returns the response to a request that failed outside of the gateway. */
  errorResponse(error: unknown, request: Request): Promise<Response>;
  /** Clears the failures of peers and continues the pins. @returns whether all pins are complete. */
  wake(): Promise<boolean>;
  /** Prepares for another version. Stops the pin work, which would delay the new version. */
  handOver(): void;
  close(): void;
}

/** How long responses in progress may continue after a change of the configuration, in milliseconds. */
const handOverMs = 60_000;

interface Configured {
  effective: EffectiveConfig;
  handler: RequestHandler;
  library: Library;
  peers: GatewayPeers;
  ownOrigins: OwnOrigins | undefined;
}

/** The only place that builds the object graph. The objects of `Configured` are rebuilt for each configuration. */
export function createGateway(deployment: Deployment, dependencies: GatewayDependencies): Gateway {
  const { stats, store, state, platform, serverConfig, buildHash } = dependencies;
  const broadcast = new StatsBroadcast(stats, dependencies.notify);
  const codec = new Codec(platform);
  const configuration = new Configuration(deployment, serverConfig, state);
  const activity = new ActivityStore(stats.activity, state);
  const appearance = new ChosenAppearance(state);
  const manifests = new ManifestStore(() => codec.blake3(), state);
  const pointers = new PointerStore(state);
  const origins = new SiteOrigins(state);
  const tokens = new TrustTokens();
  const frames = new FrameJournal(stats);
  const recentFiles = new RecentFiles(state);
  const recordHandover = new RecordHandover(stats);
  const wildcardHosts =
    deployment.hasShell && buildHash ? new WildcardHosts(deployment.origin, buildHash, state) : undefined;
  let current: Configured | undefined;

  function configured(effective: EffectiveConfig): Configured {
    const { config } = effective;
    if (!deployment.ownsOrigin && config.isolation === 'subdomain') {
      const message = 'isolation: on a site that embeds the gateway it is always “path”.';
      throw new AntwayError('BAD_CONFIG', message, { key: 'isolation' });
    }
    const { denied } = config;
    const nodes = config.useNodes ? dependencies.nodes : undefined;
    const peers =
      dependencies.peers?.(config, stats) ?? new PeerPool(config.peers, stats, { ...config, nodes });
    const { memoryBytes } = config.cache;
    // Most sites need the decoder. A page of another site may need none, for its pictures.
    const onMiss = deployment.ownsOrigin ? () => void codec.prepare() : undefined;
    const chunks = new Chunks({ codec, store, peers, stats, onMiss });
    const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes });
    const maps = new DataMaps();
    const resolver = new Resolver({ chunks, decrypted, peers, maps, manifests, pointers, denied });
    const local = localResolver(codec, store, { maps, manifests, denied });
    const trust = new Trust(config.trusted, state, tokens);
    const library: Library = new Library({
      store,
      chunks,
      decrypted,
      maps,
      manifests,
      denied,
      stats,
      settings: state,
      onPins: () => broadcast.report('pins', () => library.pins.list()),
      onVisits: () => broadcast.announce('visits'),
    });
    const { origin } = deployment;
    const ownOrigins =
      wildcardHosts && config.isolation === 'auto'
        ? new OwnOrigins({ origin, wildcardHosts, origins, library, manifests, trust })
        : undefined;
    /** One limit covers the chunk stores of all origins, including the bytes that sites store on their origins. */
    const limitStore = async () => {
      const { maxBytes } = config.cache;
      const least = Math.min(limits.leastStoreBytes, maxBytes);
      await store.setMaxBytes(Math.max(maxBytes - (await origins.storedBytes()), least));
    };
    const parts = {
      deployment,
      effective,
      appearance,
      tokens,
      stats,
      store,
      peers,
      resolver,
      library,
      trust,
      frames,
      recentFiles,
      foreignNavigations: new ForeignNavigations(),
      ownOrigins,
      recordHandover,
    };
    const content = new ContentHandler({ ...parts, local, manifests });
    const api: Omit<ApiContext, 'endTrust' | 'isOpen' | 'requestSync' | 'waitUntil'> = {
      ...parts,
      configuration,
      broadcast,
      activity,
      manifests,
      pointers,
      origins,
      local,
      limitStore,
    };
    limitStore().catch((error) => console.warn('antway: the store’s limit is not set', error));
    const handler = new RequestHandler({ deployment, effective, api, content, manifests, appearance });
    return { effective, handler, library, peers, ownOrigins };
  }

  async function now(): Promise<Configured> {
    const effective = await configuration.current();
    if (current?.effective !== effective) {
      const former = current;
      former?.library.close();
      if (former) setTimeout(() => former.peers.close(), handOverMs);
      current = configured(effective);
    }
    return current;
  }

  const answerError = (error: unknown, request: Request) =>
    errorResponse(asAntwayError(error), request, { deployment, appearance });

  return {
    stats,
    async handle(request, context) {
      try {
        const answer = await (await now()).handler.handle(request, context);
        if (answer) return answer;
        // The host may have added this name since, so fetch its config again.
        await configuration.renew();
        return await (await now()).handler.handle(request, context);
      } catch (error) {
        return answerError(error, request);
      }
    },
    async prepare() {
      await Promise.all([configuration.renew(), deployment.site && codec.prepare()]);
      // A site's origin gets the user's settings later, and the user may have chosen other peers.
      if (deployment.site) return;
      // The first request reports an invalid configuration.
      const { ownOrigins, peers } = (await now().catch(() => undefined)) ?? {};
      ownOrigins?.warm();
      peers?.warm();
    },
    isOfPeer(url) {
      // The paths of peers of all kinds. A gateway can be on the same origin, and sites may use its content.
      if (!/\/(chunk|pointer|network|-|v1)\/|\/metrics$/.test(url.pathname)) return false;
      const isIt = ({ config }: EffectiveConfig) => config.peers.some((peer) => peer.isAt(url));
      return current ? isIt(current.effective) : configuration.current().then(isIt, () => false);
    },
    errorResponse: answerError,
    async wake() {
      const { peers, library } = await now();
      peers.wake();
      library.pins.retryNow();
      await library.pins.work();
      return !(await library.pins.isUnfinished());
    },
    handOver() {
      void current?.library.close();
    },
    close() {
      void activity.flush();
      void current?.library.close();
      current?.peers.close();
    },
  };
}

/** A resolver that sends no requests to peers. Its reads are not counted. */
function localResolver(
  codec: Codec,
  store: PinningStore,
  options: Pick<ResolverOptions, 'maps' | 'manifests' | 'denied'>,
): Resolver {
  const stats = new Stats();
  const memoryBytes = limits.localMemoryBytes;
  const chunks = new Chunks({ codec, store, peers: noPeers, stats });
  const decrypted = new DecryptedChunks({ chunks, codec, peers: noPeers, stats, memoryBytes });
  return new Resolver({ ...options, chunks, decrypted, peers: noPeers });
}
