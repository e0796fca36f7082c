import type { PinState } from '../library/pin-state.ts';
import type { StatsSnapshot } from '../stats/stats.ts';

/**
 * Content: an address (64 hex digits or 52 characters of base32), a name of the site, `ant://…`, `autonomi://…`, or the URL of
 * a gateway, each perhaps with a path.
 */
export type AntContent = string | URL;

export interface AntPinInit {
  /** Called about twice a second, after each change of the state. An error in it rejects `done`. */
  onProgress?: (state: PinState) => void;
  /** Ends only the watching: `done` rejects with its reason, and the worker continues. */
  signal?: AbortSignal | null;
}

/** A pin: the worker stores all chunks of the address and does not evict them. */
export interface AntPin {
  /** 64 hex digits. */
  readonly address: string;
  /** The last known state. */
  readonly state: PinState;
  /**
   * Resolves when all chunks are stored. It waits while the pin is paused, and while the worker tries again after a problem:
   * see `state.problem`. Rejects with an `AntError` when waiting does not help (`TOO_LARGE`, `DENIED`, `UNSUPPORTED`) and when
   * the pin was removed (`NOT_FOUND`).
   */
  readonly done: Promise<void>;
  /** @throws AntError `NOT_FOUND` if the pin was removed. The functions below throw it too. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Reads and verifies every stored chunk again, and fetches the damaged and missing ones. */
  verify(): Promise<void>;
  /** The worker may then evict the chunks. */
  remove(): Promise<void>;
}

/** The API of Antway in a page. All functions but `url` and `watch` wait for `ready`, and reject with its error. */
export interface AntwayPage {
  readonly version: string;
  /**
   * Resolves when content addresses work in this page, through the worker or through the configured gateway. Rejects
   * with a `DropInError` when neither works, and when the page is closed before.
   */
  readonly ready: Promise<void>;
  /**
   * Returns the URL of content in this page. Without a page, such as in a server that renders pages, it is a path.
   * @param path the path in an archive, not encoded.
   * @throws DropInError `BAD_ADDRESS`, also for a path with the segments `.` or `..`.
   */
  url(content: AntContent, path?: string): string;
  /**
   * Fetches content as data. Pages come as data, too: do not insert their HTML into the document unchanged.
   * @param path the path in an archive, not encoded; may be left out.
   */
  fetch(content: AntContent, init?: RequestInit): Promise<Response>;
  fetch(content: AntContent, path?: string, init?: RequestInit): Promise<Response>;
  /** Makes content addresses work in a closed shadow root, or in one that was attached to an element already in the page. */
  watch(root: ShadowRoot): void;
  /**
   * Fetches all chunks of a file or an archive, and stores them in this browser until `unpin`. Resolves when the download has
   * started.
   * @throws AntError with the worker's code; DropInError `WORKERS_UNAVAILABLE` if there is no worker.
   */
  pin(content: AntContent, init?: AntPinInit): Promise<AntPin>;
  /** @throws as `pin`. */
  unpin(content: AntContent): Promise<void>;
  /** Returns the pins of this origin in this browser. @throws as `pin`. */
  pins(): Promise<AntPin[]>;
  /** Returns the counters of the worker. @throws as `pin`. */
  stats(): Promise<StatsSnapshot>;
  /**
   * Ends the watching of the page. `done` of pins and later calls reject with an `AbortError`. Elements stay as they are, and so
   * does the worker. Then `createAntway` may be called again.
   */
  close(): void;
}
