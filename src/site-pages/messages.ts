import type { SiteGrant } from '../gateway/api/site-exchange.ts';
import type { Language } from '../languages.ts';
import type { Visit } from '../library/visits.ts';
import type { Settings } from '../server-config.ts';

/** How long the settings of a site wait for the records that the gateway's own origin has read, in milliseconds. */
export const recordsMs = 1_000;

/** Sent from a site's origin to `/-/root`, with a port for the reply. */
export const helloMessage = 'antway:hello';

/** The reply of `/-/root` on that port. Null if the gateway's own origin has no worker in this browser. */
export interface Welcome extends SiteGrant {
  /** Set if the site is a manifest that is stored on this device. */
  manifest: Blob | null;
  /** Records of the site that the gateway's own origin has read already. Undefined from an older version. */
  records?: Blob[];
}

/** Sent from a site's origin to `/-/root` on the same port: the site's worker has received the settings. */
export const readyMessage = 'antway:ready';

/** Sent from the shell to `/-/bridge`, with a port for requests. */
export const bridgeMessage = 'antway:bridge';

/** From the shell to a site's origin. */
export type BridgeRequest = { id: number } & (
  | { kind: 'fetch'; path: string; method: string; body: Blob | FormDataFields | string | null }
  /** Deletes all data that the site and the gateway store on this origin, and the worker. */
  | { kind: 'clear' }
  /** Lists a folder of the site. @see `?format=json` in docs/reference/http.md */
  | { kind: 'files'; folder: string }
  /** Asks the browser not to evict this origin's data. */
  | { kind: 'persist' }
  /** Has a port for the site's worker, to the page with the connections to nodes. No answer follows. */
  | { kind: 'nodes' }
);

/** The fields of a form. Windows cannot send a `FormData` object to each other. */
export interface FormDataFields {
  fields: [name: string, value: string | Blob][];
}

export type BridgeAnswer = { id: number } & (
  | { status: number; type: string | null; body: Blob }
  | { error: string }
);

/** From a site's origin to the shell, at any time: the site's worker wants a port, as in `kind: 'nodes'`. */
export interface BridgeWish {
  type: 'NODES';
}

/** The first message on the port: the state of the worker, and whether the frame is same-site with the shell. */
export type BridgeReady = { isSameSite: boolean } & (
  | { ready: true }
  | { ready: false; error: string; isForeign: boolean }
);

/** Sent from `/-/move` to the shell that opened it, with a port for the library. */
export const moveMessage = 'antway:move';

export interface OfferedSite extends Visit {
  isPinned: boolean;
  /** Whether the site opens only through a manifest that is stored on the offering origin. */
  isPrivate: boolean;
}

/** A publication of the user. A source supplies all of it as JSON. */
export interface OfferedPublication {
  /** As of `Publication`. */
  id: string;
  title: string;
}

/** The shell's first message on that port. */
export interface LibraryOffer {
  language: Language;
  sites: OfferedSite[];
  /** Without the server config. */
  settings: Settings;
  /** Addresses of sites that open without scripts. */
  restricted: string[];
  publications: OfferedPublication[];
}

/** The parts of a library that are not in its offer. */
export type LibraryPart = 'site' | 'manifest' | 'publication';

export interface MoveOutcome {
  /** The number of sites. */
  copied: number;
  /** The number of publications. */
  published: number;
  failed: number;
}

/** The messages that `/-/move` sends on the port after the offer. */
export type MoveRequest =
  /** Requests a part of the library, or checks that the shell is still there. The reply has the same `id`. */
  | { id: number; kind: LibraryPart; address: string }
  | { id: number; kind: 'ping' }
  | ({ kind: 'done' } & MoveOutcome)
  | { kind: 'cancelled' };

export type MoveAnswer = { id: number } & ({ body: Blob | null } | { code: string; message: string });
