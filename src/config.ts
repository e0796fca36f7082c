import * as v from 'valibot';
import { Address, hexAddress } from './address.ts';
import { catalogueEntry, listTitle } from './catalogue.ts';
import { limits } from './limits.ts';
import { PeerUrl } from './peer-url.ts';
import * as s from './schema.ts';
import type {
  CatalogueEntry,
  Isolation,
  NodeNetwork,
  ServerConfig,
  Settings,
  TransportChoice,
} from './server-config.ts';

const isolation = v.picklist(['auto', 'path', 'subdomain']);

const transport = v.picklist(['auto', 'webtransport', 'http']);

const name = s.pattern(
  /^(?![0-9A-Fa-f]{64}$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
  'a name has letters, digits, dots, dashes and underscores, and is not an address',
);

/** The pages that set a user's name check it further; see `src/names/petname.ts`. */
const petname = s.pattern(
  /^(?![0-9A-Fa-f]{64}$)[\p{L}0-9][\p{L}\p{M}0-9._-]{0,99}$/u,
  'a name has letters, digits, dots, dashes and underscores, and is not an address',
);

const peerUrl = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const { issues } = v.safeParse(PeerUrl.schema('https://gateway.invalid'), dataset.value);
    if (issues) addIssue({ message: issues[0].message });
  }),
);

/** Strict, so that the result is a URL of one of these schemes, whatever the address is. Characters are ASCII. */
const reportUrl = s.pattern(
  /^(?=.*\{address\})(https:\/\/[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?[/?][!#-;=?-[\]-~]*|mailto:[!#-;=A-[\]-~]+@[A-Za-z0-9.-]+\?[!#-;=?-[\]-~]*)$/,
  'it must be an https:// or mailto: URL that contains {address}',
);

/** An origin, so that a shared link is this origin and a path. Characters are ASCII. */
const gatewayOrigin = s.pattern(
  /^https:\/\/[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+(:[0-9]{1,5})?$/,
  'it must be https:// and a host name in lower case, without a path',
);

/** The page that connects to the nodes checks the hashes in it. */
const nodeAddress = s.pattern(
  /^\/ip[46]\/[0-9A-Fa-f:.]{2,45}\/udp\/[0-9]{1,5}\/webrtc-direct\/certhash\/u[A-Za-z0-9_-]{46}\/p2p\/[0-9a-f]{64}$/,
  'it must be /ip4/…/udp/…/webrtc-direct/certhash/…/p2p/…',
);

const nodesExpectation = 'it must be “mainnet”, or a list of 1 to 32 multiaddresses of nodes';
const nodeNetwork = v.union(
  [
    v.literal('mainnet'),
    v.pipe(v.array(nodeAddress), v.minLength(1, nodesExpectation), v.maxLength(32, nodesExpectation)),
  ],
  nodesExpectation,
);

const settings = {
  peers: v.optional(v.array(peerUrl)),
  usePeersOfPeers: v.optional(v.boolean()),
  transport: v.optional(transport),
  cache: v.optional(
    s.strictObject({ maxBytes: v.optional(s.integer('bytes')), memoryBytes: v.optional(s.integer('bytes')) }),
  ),
  denied: v.optional(v.array(hexAddress)),
  lists: v.optional(s.record(listTitle, hexAddress)),
};

/** The part of the configuration that a user can change in the shell. */
export const settingsSchema: s.Schema<Settings> = s.strictObject({
  ...settings,
  names: v.optional(s.record(petname, hexAddress)),
  nameLists: v.optional(s.record(petname, hexAddress)),
  useNodes: v.optional(v.boolean()),
});

/** `antway.json`. */
export const serverConfigSchema: s.Schema<ServerConfig> = s.strictObject({
  $schema: v.optional(v.string()),
  ...settings,
  names: v.optional(s.record(name, hexAddress)),
  nameLists: v.optional(s.record(name, hexAddress)),
  isolation: v.optional(isolation),
  nodes: v.optional(nodeNetwork),
  trusted: v.optional(v.array(hexAddress)),
  reportUrl: v.optional(reportUrl),
  sample: v.optional(catalogueEntry),
  catalogue: v.optional(s.list(catalogueEntry, limits.listEntries)),
  publicGateways: v.optional(
    v.pipe(v.array(gatewayOrigin), v.maxLength(8, 'it must be a list of at most 8 gateways')),
  ),
  deployment: v.optional(s.strictObject({ name, address: hexAddress, time: v.string(), folder: v.string() })),
});

/** @throws AntwayError `BAD_CONFIG` that names the wrong key. */
export function parseServerConfig(value: unknown, place = 'antway.json'): ServerConfig {
  return s.parse(serverConfigSchema, value, 'BAD_CONFIG', place);
}

/** @throws AntwayError `BAD_CONFIG` that names the wrong key. */
export function parseSettings(value: unknown): Settings {
  return s.parse(settingsSchema, value, 'BAD_CONFIG', 'The settings');
}

/** The effective config: server config and user settings combined, with defaults. */
export interface Config {
  peers: readonly PeerUrl[];
  /** Whether peers that the configured peers name may be used too. */
  usePeersOfPeers: boolean;
  transport: TransportChoice;
  /** Whether this browser may connect to nodes of the network. */
  useNodes: boolean;
  nodes: NodeNetwork;
  isolation: Isolation;
  /** The host's names: first path segment → address. The worker does not know the user's names. */
  names: ReadonlyMap<string, Address>;
  /** Addresses (hex) whose HTML may run scripts in path mode. */
  trusted: ReadonlySet<string>;
  /** Addresses (hex) that are never served. */
  denied: ReadonlySet<string>;
  /** Where users report a site: a URL with `{address}`. Null if the host takes no reports. */
  reportUrl: string | null;
  /** The site that the start page recommends first. Null if there is none, or if it is denied. */
  sample: CatalogueEntry | null;
  /** The host's further recommendations, without denied sites. */
  catalogue: readonly CatalogueEntry[];
  /** Lists of sites: title → address, usually of a pointer. */
  lists: ReadonlyMap<string, Address>;
  /** Lists of names: the label behind the `@` → address, usually of a pointer. */
  nameLists: ReadonlyMap<string, Address>;
  /** Origins of gateways that everyone can reach. */
  publicGateways: readonly string[];
  cache: {
    /** Ceiling of the chunk store in IndexedDB, in bytes. */
    maxBytes: number;
    /** Ceiling of decrypted chunks in memory, in bytes. */
    memoryBytes: number;
  };
}

/** The source of a value: the server config (`host`), the user settings (`user`), or a default. */
export type ValueSource = 'host' | 'user' | 'default';

/** The source of each value of a `Config`. Every list and every denied address has its own source. */
export interface ConfigSources {
  peers: ValueSource;
  usePeersOfPeers: ValueSource;
  transport: ValueSource;
  useNodes: ValueSource;
  nodes: ValueSource;
  isolation: ValueSource;
  names: ValueSource;
  trusted: ValueSource;
  denied: Record<string, ValueSource>;
  reportUrl: ValueSource;
  sample: ValueSource;
  catalogue: ValueSource;
  lists: Record<string, ValueSource>;
  nameLists: Record<string, ValueSource>;
  publicGateways: ValueSource;
  cache: Record<keyof Config['cache'], ValueSource>;
}

/** In effect if the host has no `antway.json`. `antway-peer` can host the gateway, so the host counts as a peer. */
const withoutFile: ServerConfig = { peers: ['/'] };

/**
 * Combines the server config with the user settings.
 * @param server null if the host has no file.
 * @param baseUrl resolves the peer `/`.
 * @param quotaBytes the browser's storage quota for this origin, if known. The default ceiling of the chunk store is a
 *   tenth of the quota, at most 4 GiB.
 */
export function combine(
  server: ServerConfig | null,
  user: Settings,
  baseUrl: string,
  quotaBytes = Infinity,
): { config: Config; sources: ConfigSources } {
  const file = server ?? withoutFile;
  const {
    peers = [],
    usePeersOfPeers = false,
    transport = 'auto',
    isolation = 'auto',
  } = { ...file, ...user };
  const deniedByHost = lowerCaseSet(file.denied);
  const denied = new Set([...deniedByHost, ...lowerCaseSet(user.denied)]);
  const isAllowed = ({ address }: CatalogueEntry) => !denied.has(address.toLowerCase());
  const defaultMaxBytes = Math.min(Math.floor(quotaBytes / 10), 4 * 1024 ** 3);
  const config: Config = {
    peers: peers.map((url) => PeerUrl.parse(url, baseUrl)),
    usePeersOfPeers,
    transport,
    useNodes: user.useNodes ?? false,
    nodes: file.nodes ?? 'mainnet',
    isolation,
    names: addressesOf(file.names),
    trusted: lowerCaseSet(file.trusted),
    denied,
    reportUrl: file.reportUrl ?? null,
    sample: file.sample && isAllowed(file.sample) ? file.sample : null,
    catalogue: (file.catalogue ?? []).filter(isAllowed),
    lists: addressesOf({ ...file.lists, ...user.lists }),
    nameLists: addressesOf({ ...file.nameLists, ...user.nameLists }),
    publicGateways: file.publicGateways ?? [],
    cache: { maxBytes: defaultMaxBytes, memoryBytes: 64 * 1024 ** 2, ...file.cache, ...user.cache },
  };
  const sources: ConfigSources = {
    peers: sourceOf(user.peers, server?.peers),
    usePeersOfPeers: sourceOf(user.usePeersOfPeers, server?.usePeersOfPeers),
    transport: sourceOf(user.transport, server?.transport),
    useNodes: sourceOf(user.useNodes, undefined),
    nodes: sourceOf(undefined, server?.nodes),
    isolation: sourceOf(undefined, server?.isolation),
    names: sourceOf(undefined, server?.names),
    trusted: sourceOf(undefined, server?.trusted),
    denied: sourceOfEach(config.denied, (address) => !deniedByHost.has(address)),
    reportUrl: sourceOf(undefined, server?.reportUrl),
    sample: sourceOf(undefined, server?.sample),
    catalogue: sourceOf(undefined, server?.catalogue),
    lists: sourceOfEach(config.lists.keys(), (title) => Object.hasOwn(user.lists ?? {}, title)),
    nameLists: sourceOfEach(config.nameLists.keys(), (label) => Object.hasOwn(user.nameLists ?? {}, label)),
    publicGateways: sourceOf(undefined, server?.publicGateways),
    cache: {
      maxBytes: sourceOf(user.cache?.maxBytes, server?.cache?.maxBytes),
      memoryBytes: sourceOf(user.cache?.memoryBytes, server?.cache?.memoryBytes),
    },
  };
  return { config, sources };
}

function addressesOf(record: Readonly<Record<string, string>> = {}): Map<string, Address> {
  return new Map(Object.entries(record).map(([name, hex]) => [name, Address.fromHex(hex)]));
}

function lowerCaseSet(texts: readonly string[] = []): Set<string> {
  return new Set(texts.map((text) => text.toLowerCase()));
}

function sourceOf(userValue: unknown, serverValue: unknown): ValueSource {
  if (userValue !== undefined) return 'user';
  return serverValue === undefined ? 'default' : 'host';
}

function sourceOfEach(
  keys: Iterable<string>,
  isOfUser: (key: string) => boolean,
): Record<string, ValueSource> {
  return Object.fromEntries(Array.from(keys, (key) => [key, isOfUser(key) ? 'user' : 'host']));
}
