// The public types. They import nothing, so that the package's types need no other package.

export interface AntFetch {
  /**
   * Like `fetch`, for `ant://` links, addresses in every printed form, and names. It answers GET and HEAD with ranges and
   * preconditions, as a gateway does. A precondition that fails is no error: the status is 304 or 412.
   * @throws AntError instead of a response with an error status; the signal's reason; TypeError for an unknown option.
   */
  (input: AntInput, init?: AntFetchInit): Promise<Response>;
  /**
   * Opens a file, an archive, or a folder of an archive.
   * @throws AntError; the signal's reason; TypeError for an unknown option.
   */
  open(input: AntInput, init?: Pick<AntReadInit, 'signal'>): Promise<AntFile | AntArchive>;
  /** Cancels everything that runs, and closes the connections. Resolves when fetched chunks are stored. */
  close(): Promise<void>;
}

export type AntInput = string | URL | Request;

export interface AntFetchOptions {
  /**
   * URLs of peers: `https://host:port`, optionally with `#sha-256=<hex>`, or `http://` on loopback. At least one, if there
   * are no `nodes`. `/` is the host of the page.
   */
  peers?: readonly string[];
  /**
   * The network whose nodes this window connects to by WebRTC, after the peers: the main network, or another one by the
   * multiaddresses of 1 to 32 of its nodes. Nodes learn the IP address of the user. Default: no node is asked.
   */
  nodes?: 'mainnet' | readonly string[];
  /** Addresses (64 hex digits) by name, of content or of pointers. `ant://<name>` and `ant://~<name>` are the same. */
  names?: Readonly<Record<string, string>>;
  /** Default: IndexedDB where it exists, otherwise memory. */
  store?: AntStoreOption;
}

/**
 * Stores encrypted chunks between calls. Their bytes are verified after each `get`. A call that fails counts as a miss, and so
 * does a `get` after 5 seconds: the chunk comes from a peer then.
 */
export interface AntStore {
  /** @param address 64 hex digits in lower case. */
  get(address: string): Promise<Uint8Array | undefined>;
  /** Replaces bytes that are there. @param bytes at most 4 MiB and 4 KiB. Do not write to them. */
  put(address: string, bytes: Uint8Array): Promise<void>;
}

/** `indexeddb` shares its chunks with a gateway of the same origin. */
export type AntStoreOption = 'memory' | 'indexeddb' | AntStore;

/** Progress of one body. */
export interface AntProgress {
  /** In bytes. */
  loaded: number;
  /** In bytes. */
  total: number;
}

export interface AntReadInit {
  /** Cancels also the requests to peers and nodes. */
  signal?: AbortSignal | null;
  /** Called after each piece of the body. An error in it ends the body. */
  onProgress?: (progress: AntProgress) => void;
}

export interface AntFetchInit extends AntReadInit {
  /** `GET` (default) or `HEAD`. */
  method?: string;
  /** Understood: `Accept`, `Range`, `If-Range`, `If-Match`, `If-None-Match`. */
  headers?: ConstructorParameters<typeof Headers>[0];
}

export interface AntStreamInit extends AntReadInit {
  /** The first byte. Default: 0. */
  start?: number;
  /** The byte after the last one. Default: the size. */
  end?: number;
}

/** A file with random access. It fetches only the chunks that a call needs. */
export interface AntFile {
  readonly kind: 'file';
  /** 64 hex digits: the address that was opened, or the current target of a pointer. */
  readonly address: string;
  /** The last part of its path, or the name that the input suggests. Empty if there is none. A stranger chose it. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The media type by the name, otherwise by the first bytes. A stranger chose it. */
  readonly type: string;
  /** Reads the bytes from `start` up to `end`. @throws AntError, `BAD_RANGE` outside the file; the signal's reason. */
  read(start?: number, end?: number, init?: AntReadInit): Promise<Uint8Array<ArrayBuffer>>;
  /** Fetches as the consumer reads. It fails on an error and never just ends early. @throws AntError `BAD_RANGE`. */
  stream(init?: AntStreamInit): ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The whole file in memory. @throws AntError; the signal's reason. */
  blob(init?: AntReadInit): Promise<Blob>;
}

export interface AntEntry {
  /** From the opened folder, without a leading slash. A stranger chose it: do not use it as a path on a disk. */
  readonly path: string;
  /** In bytes. Undefined if the archive does not say. A stranger chose it; the size of the opened file is right. */
  readonly size: number | undefined;
  /** Undefined if the archive does not say. */
  readonly modified: Date | undefined;
}

/** The files of an archive, or of a folder in it. */
export interface AntArchive {
  readonly kind: 'archive';
  /** 64 hex digits: the address that was opened, or the current target of a pointer. */
  readonly address: string;
  /** The name that the author gave the archive. */
  readonly name: string | undefined;
  /** All files, also those in folders. */
  entries(): AntEntry[];
  /**
   * Opens one file by the path of its entry.
   * @throws AntError, `NOT_FOUND` if there is no such file; the signal's reason.
   */
  get(path: string, init?: Pick<AntReadInit, 'signal'>): Promise<AntFile>;
}
