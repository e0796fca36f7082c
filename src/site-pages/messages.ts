import type { Settings } from '../config.ts';
import type { SiteGrant } from '../gateway/api/site-exchange.ts';
import type { Language } from '../languages.ts';
import type { Visit } from '../library/visits.ts';

/** From a site's origin to `/-/root`, with a port for the answer. */
export const helloMessage = 'antway:hello';

/** The answer of `/-/root`, on that port; null where the gateway's own origin has no worker in this browser. */
export interface Welcome extends SiteGrant {
  /** The site's manifest, if it is one that is stored on this device. */
  manifest: Blob | null;
}

/** From a site's origin to `/-/root`, on the same port: the site's worker has the settings. */
export const readyMessage = 'antway:ready';

/** From the shell to `/-/bridge`, with a port for requests. */
export const bridgeMessage = 'antway:bridge';

/** What the shell asks of a site's origin. */
export type BridgeRequest = { id: number } & (
  | { kind: 'fetch'; path: string; method: string; body: Blob | FormDataFields | string | null }
  /** Deletes all that the site and the gateway store on this origin, the worker included. */
  | { kind: 'clear' }
  /** Asks the browser not to clear this origin on its own. */
  | { kind: 'persist' }
);

/** A form, which cannot be sent between windows as it is. */
export interface FormDataFields {
  fields: [name: string, value: string | Blob][];
}

/** The answer to a request with this `id`. */
export type BridgeAnswer = { id: number } & (
  | { status: number; type: string | null; body: Blob }
  | { error: string }
);

/**
 * Sent first on the port: the worker of the site's origin runs, or why it does not. Both with whether the bridge sees the
 * shell's cookie.
 */
export type BridgeReady = { isSameSite: boolean } & (
  | { ready: true }
  | { ready: false; error: string; isForeign: boolean }
);

/** From `/-/move` to the shell that opened it, with a port for the library. */
export const moveMessage = 'antway:move';

/** A site of a library that is offered. */
export interface OfferedSite extends Visit {
  isPinned: boolean;
  /** Whether only a manifest that is stored there opens it. */
  isPrivate: boolean;
}

/** The shell's first message on that port. */
export interface LibraryOffer {
  language: Language;
  sites: OfferedSite[];
  /** What the user set, without the host's configuration. */
  settings: Settings;
  /** Addresses of sites that the user opens without scripts. */
  restricted: string[];
}

/** How a move ended. */
export interface MoveOutcome {
  copied: number;
  failed: number;
}

/** What `/-/move` sends on the port after the offer. */
export type MoveRequest =
  /** Asks for a site as a file, for a manifest, or whether the shell is still there. The answer has the same `id`. */
  | { id: number; kind: 'site' | 'manifest'; address: string }
  | { id: number; kind: 'ping' }
  | ({ kind: 'done' } & MoveOutcome)
  | { kind: 'cancelled' };

/** The shell's answer to a request with this `id`. */
export type MoveAnswer = { id: number } & ({ body: Blob | null } | { code: string; message: string });
