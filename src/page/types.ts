import type { ListedPin, PinState } from '../library/pin-state.ts';
import type { StatsSnapshot } from '../stats/stats.ts';

/**
 * A reference to content: an address (64 hex digits or 52 characters of base32), a name of the site, `ant://…`,
 * `autonomi://…`, or the URL of a gateway, each perhaps with a path.
 */
export type AntReference = string | URL;

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
   * see `state.problem`. Rejects with an `AntError` when waiting does not help (`state.problem.isFinal`: `TOO_LARGE`, `DENIED`
   * or `UNSUPPORTED`) and when the pin was removed (`NOT_FOUND`).
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

/** A manifest that the worker stores. It opens private content. */
export interface AntManifest {
  /** 64 hex digits: the content opens at this address, in this browser only. */
  readonly address: string;
  /** The author’s text, or null. */
  readonly name: string | null;
  readonly files: number;
  /** False if the browser blocks storage: then the manifest opens only while this worker lives. */
  readonly isStored: boolean;
}

/** A peer of the worker. */
export interface AntPeer {
  readonly url: string;
  readonly kind: 'antway' | 'anttp' | 'antd';
  /** The transport of the last requests, or why there is none. */
  readonly state: 'idle' | 'webtransport' | 'http' | 'unreachable' | 'banned';
  /** Whether the peer answers. Null if that is not known yet. */
  readonly answers: boolean | null;
  /** The peer that named this one. Null for a peer of the configuration. */
  readonly namedBy: string | null;
}

export interface AntExportInit {
  /** Shown by apps before they import the file. */
  title?: string;
  /** A PNG. */
  icon?: Blob;
  signal?: AbortSignal | null;
}

/** The result of an import. */
export interface AntImported {
  /** 64 hex digits. The address is pinned. */
  readonly address: string;
  /** Valid chunks, and their bytes. */
  readonly chunks: number;
  readonly bytes: number;
  /** The parts that are damaged. The worker fetches their chunks from peers. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

/** The state that a listener of each event gets. */
export interface AntEvents {
  pins: readonly ListedPin[];
  peers: readonly AntPeer[];
  manifests: readonly AntManifest[];
  stats: StatsSnapshot;
}

export type AntEventType = keyof AntEvents;

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
  url(content: AntReference, path?: string): string;
  /**
   * Fetches content as data. Pages come as data, too: do not insert their HTML into the document unchanged.
   * @param path the path in an archive, not encoded; may be left out.
   */
  fetch(content: AntReference, init?: RequestInit): Promise<Response>;
  fetch(content: AntReference, path?: string, init?: RequestInit): Promise<Response>;
  /** Makes content addresses work in a closed shadow root, or in one that was attached to an element already in the page. */
  watch(root: ShadowRoot): void;
  /**
   * Fetches all chunks of a file or an archive, and stores them in this browser until `unpin`. Resolves when the download has
   * started.
   * @throws AntError with the worker's code; DropInError `WORKERS_UNAVAILABLE` if there is no worker.
   */
  pin(content: AntReference, init?: AntPinInit): Promise<AntPin>;
  /** @throws as `pin`. */
  unpin(content: AntReference): Promise<void>;
  /** Returns the pins of this origin in this browser. @throws as `pin`. */
  pins(): Promise<AntPin[]>;
  /** Returns the counters of the worker. @throws as `pin`. */
  stats(): Promise<StatsSnapshot>;

  /**
   * Stores a manifest in this browser, encrypted. It opens private content at the address that this function returns. No host
   * and no peer gets the manifest.
   * @param manifest its bytes, or a link `ant://manifest/…`.
   * @throws as `pin`; DropInError `BAD_ADDRESS` for another text and for a link of which a part is missing, AntError
   *   `CORRUPT`, `UNSUPPORTED`, `TOO_LARGE`.
   */
  addManifest(manifest: string | URL | Blob | BufferSource): Promise<AntManifest>;
  /** Returns the manifests that this browser stores. @throws as `pin`. */
  manifests(): Promise<AntManifest[]>;
  /** Returns the bytes of a manifest. They may have the only keys to private files. @throws as `pin`; `NOT_FOUND`. */
  readManifest(content: AntReference): Promise<Uint8Array<ArrayBuffer>>;
  /** Deletes a manifest from this browser. @throws as `pin`. */
  removeManifest(content: AntReference): Promise<void>;

  /**
   * Returns a response whose body is one file with all chunks of a site, for `import`, the app and the command. Pin the site
   * first. The file of private content has its manifest, so it opens the content for everyone who has the file.
   * @throws as `pin`; `NOT_FOUND` if not all chunks are stored.
   */
  export(content: AntReference, init?: AntExportInit): Promise<Response>;
  /**
   * Verifies every chunk of such a file, stores the right ones, and pins the site.
   * @param init `content`: what the file must be of.
   * @throws as `pin`; TypeError for anything but a Blob; `CORRUPT` for a file of something else, `UNSUPPORTED` for no such file.
   */
  import(file: Blob, init?: { content?: AntReference; signal?: AbortSignal | null }): Promise<AntImported>;

  /** Returns the peers of the worker. @param init `check`: first ask all of them for a sign of life. @throws as `pin`. */
  peers(init?: { check?: boolean; signal?: AbortSignal | null }): Promise<AntPeer[]>;
  /**
   * Tests a peer, and adds it to the peers of this site in this browser. From then on, the user’s list replaces that of the
   * site’s configuration, until `resetPeers`.
   * @throws as `pin`; `BAD_CONFIG` for a wrong URL, `UNSUPPORTED` for another server, `PEERS_UNREACHABLE`.
   */
  addPeer(url: string): Promise<void>;
  /** Removes a peer in the same way. @throws as `pin`; `NOT_FOUND`, `BAD_CONFIG` for the last peer. */
  removePeer(url: string): Promise<void>;
  /** The peers of the site’s configuration are in use again. @throws as `pin`. */
  resetPeers(): Promise<void>;

  /**
   * Calls a listener with the present state, and then after each change, about once a second. It ends with the returned
   * function, the signal and `close`. Without a worker, the listener is never called.
   * @throws TypeError for another type.
   */
  on<Type extends AntEventType>(
    type: Type,
    listener: (state: AntEvents[Type]) => void,
    init?: { signal?: AbortSignal | null },
  ): () => void;
  /**
   * Ends the watching of the page. `done` of pins and later calls reject with an `AbortError`. Elements stay as they are, and so
   * does the worker. Then `createAntway` may be called again.
   */
  close(): void;
}
