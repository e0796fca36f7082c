/**
 * How sites are isolated from each other.
 *
 * - `auto`: a site whose pages can run scripts gets its own origin if the host has wildcard names. Otherwise as `path`.
 * - `path`: all sites share the gateway's origin. The user decides which sites may run scripts.
 * - `subdomain`: every site has its own origin, with or without scripts.
 */
export type Isolation = 'auto' | 'path' | 'subdomain';

/** The transports used to reach peers: any transport that works, or only the named one. */
export type TransportChoice = 'auto' | 'webtransport' | 'http';

/** The main network of Autonomi, or another network by the multiaddresses of some of its nodes. */
export type NodeNetwork = 'mainnet' | readonly string[];

/** A site that a host or the author of a list recommends. Lists come from strangers: show the texts as text only. */
export interface CatalogueEntry {
  /** 1 to 100 characters in one line. */
  title: string;
  /** 64 hex digits, in either case. */
  address: string;
  /** 1 to 300 characters in one line. */
  description?: string;
  /** The path of the site's icon within the site, such as `img/icon.svg`. */
  icon?: string;
  /** The path of a wide picture within the site. */
  cover?: string;
}

/** The part of the configuration that a user can change in the shell, as JSON. A missing setting has the server's value. */
export interface Settings {
  /** Replaces the server's peers. */
  peers?: string[];
  /** Whether peers that the configured peers name may be used too. */
  usePeersOfPeers?: boolean;
  transport?: TransportChoice;
  /**
   * Whether this browser may connect to the network's nodes, which then learn its IP address. Only the user can decide
   * that: `antway.json` does not have this key.
   */
  useNodes?: boolean;
  /** In bytes: the chunk store in IndexedDB, and the decrypted chunks in memory. */
  cache?: { maxBytes?: number; memoryBytes?: number };
  /** The user's own names: name → address. They open as `/~<name>/`, beside the server's names. */
  names?: Record<string, string>;
  /** Addresses that are not served. Added to the server's list, so an address that the server denies stays denied. */
  denied?: string[];
  /** Lists of sites for the start page: title → address. Added to the server's lists. */
  lists?: Record<string, string>;
  /** Lists of names: the label behind the `@` → address, usually of a pointer. Added to the server's lists. */
  nameLists?: Record<string, string>;
}

/** The value of a valid `antway.json`. */
export interface ServerConfig extends Omit<Settings, 'names' | 'useNodes'> {
  /** Names of this gateway: name → address. They open as `/<name>/`. */
  names?: Record<string, string>;
  /** Where the JSON Schema is, for editors. */
  $schema?: string;
  isolation?: Isolation;
  /** The network whose nodes a user may connect to. Default: `mainnet`. */
  nodes?: NodeNetwork;
  /** Addresses whose HTML may run scripts where sites share an origin. */
  trusted?: string[];
  /** Where users report a site to the host: an `https:` or `mailto:` URL with `{address}` in place of the address. */
  reportUrl?: string;
  /** The site that the start page recommends first. */
  sample?: CatalogueEntry;
  /** Further sites that the start page recommends. */
  catalogue?: CatalogueEntry[];
  /** Origins of gateways that everyone can reach, for shared links. The most preferred one is the first. */
  publicGateways?: string[];
  /** The last deployment, which `antway deploy` writes. Gateways ignore it. */
  deployment?: DeployedVersion;
}

/** A version of a site that `antway deploy` published under a name. */
export interface DeployedVersion {
  name: string;
  /** 64 hex digits. */
  address: string;
  /** In ISO 8601. */
  time: string;
  /** The folder that was deployed, relative to the file. */
  folder: string;
}

/** @param template the config's `reportUrl`. @param address in hex. */
export function reportUrlOf(template: string, address: string): string {
  return template.replaceAll('{address}', address);
}
