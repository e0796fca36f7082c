// The public types. They import nothing, so that the package's types need no other package.

/** Bytes that can be read at any position, such as a file on a disk. */
export interface AntSource {
  /** In bytes. */
  readonly size: number;
  /** Reads exactly `end - start` bytes from `start`. Every byte is read twice, and once more to sign it. */
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

export type AntBytes = Blob | ArrayBuffer | Uint8Array | AntSource;

/** A file of an archive to publish. */
export interface AntInputFile {
  /** Relative, with `/` between folders. */
  path: string;
  content: AntBytes;
}

/** A `FileSystemFileHandle` of a browser. */
export interface AntFileHandle {
  readonly kind: 'file';
  readonly name: string;
  getFile(): Promise<Blob>;
}

/** A `FileSystemDirectoryHandle` of a browser. */
export interface AntDirectoryHandle {
  readonly kind: 'directory';
  readonly name: string;
  entries(): AsyncIterable<[name: string, handle: { readonly kind: 'file' | 'directory' }]>;
}

/**
 * A file: bytes, or the handle of a file. An archive: the handle of a folder, or files with paths. A `File` and a handle have
 * a name.
 */
export type AntPublishInput =
  | AntBytes
  | AntFileHandle
  | AntDirectoryHandle
  | Iterable<AntInputFile>
  | AsyncIterable<AntInputFile>;

/** Stores encrypted chunks, in place of peers. */
export interface AntSink {
  /**
   * @param address 64 hex digits in lower case.
   * @param bytes at most 4 MiB and 4 KiB. Do not write to them.
   * @returns `present` if the chunk was there before.
   */
  put(address: string, bytes: Uint8Array, init: { signal: AbortSignal }): Promise<'stored' | 'present'>;
  /** Stores the signed record of a pointer. A sink without this function leaves the record to the caller. */
  putPointer?(address: string, record: Uint8Array, init: { signal: AbortSignal }): Promise<void>;
}

/** A chunk of a publication. */
export interface AntChunk {
  /** 64 hex digits in lower case. */
  address: string;
  /** Bytes of the encrypted chunk. */
  size: number;
}

/** Stores whole publications, for example because it has to pay for all chunks together before it can store one. */
export interface AntWholeSink {
  /**
   * @param chunks all different.
   * @param store encrypts the content once more, and gives each chunk to `put`. Call it once.
   * @param init `pointer` is the signed record that `putPointer` gets afterwards. Do not store it before the content.
   */
  storeAll(
    chunks: readonly AntChunk[],
    store: (put: AntSink['put']) => Promise<void>,
    init: { signal: AbortSignal; pointer?: AntPointer | undefined },
  ): Promise<void>;
  putPointer?: AntSink['putPointer'];
}

/** A wallet of a browser (EIP-1193). */
export interface AntWallet {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** A chain with the contracts of a network. The addresses are `0x` and 40 hex digits. */
export interface AntChain {
  chainId: number;
  token: string;
  vault: string;
}

/** The price of a publication. The amounts are decimal numbers. */
export interface AntPrice {
  /** All chunks of the publication. A pointer counts as one. */
  readonly chunks: number;
  /** Chunks that are neither in the network nor paid for. */
  readonly dueChunks: number;
  /** The most that these chunks cost, in ANT. */
  readonly amount: string;
  /** About what the chain charges for the transactions, in ETH. */
  readonly fees: string;
  /** Nodes that the chain may choose for a payment of many chunks, and that only the first of two relays names. */
  readonly unconfirmedNodes: number;
}

/** A payment that a wallet was asked for, and has neither sent nor refused. */
export interface AntWaitingPayment {
  /** The address of the account that was asked. */
  readonly account: string;
}

/** Values by key. When `put` or `delete` resolves, the change survives a crash of the machine. */
export interface AntJournalStore {
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** All keys that begin with this text. */
  keys(prefix: string): Promise<string[]>;
}

/**
 * Where payments are written down: `databaseJournal` in pages and workers, `folderJournal` in Node. If it is lost, payments
 * that were not used yet are lost with it.
 */
export interface AntJournal {
  /** @param chain a name for a chain, which is a valid file name. */
  open(chain: string): Promise<AntJournalStore>;
  /** Does work while no other program, tab or worker does work with the journal of this chain. */
  lock<T>(chain: string, work: () => Promise<T>): Promise<T>;
}

export interface AntNetworkOptions {
  /** URLs of peers that bring chunks to the network: `https://host:port`, or `http://` on loopback. A second one checks the first. */
  relays: readonly string[];
  /** Pays, and shows each transaction to its user. Either this or `key`. */
  wallet?: AntWallet;
  /** The 32 secret bytes of the account that pays. Needs `rpc`. */
  key?: Uint8Array;
  /** The URL of an endpoint of the chain. */
  rpc?: string;
  /** The most that a publication may cost, in ANT and without the fees of the chain: a decimal number such as `"0.5"`. */
  maxCost: string;
  /**
   * The most that the chain may charge for a publication, in ETH: a decimal number such as `"0.001"`. Default: five times
   * the `fees` that `onPrice` got; without `onPrice`, not more than 0.01.
   */
  maxFees?: string;
  /**
   * Gets a price within `maxCost` before anything is paid for the publication. Nothing is paid for it if this returns
   * `false`. An interrupted payment, which was agreed to before, comes to its end first.
   */
  onPrice?: (price: AntPrice) => unknown;
  /**
   * Gets each earlier payment for the same content that may still wait in a wallet. It is forgotten if this returns `true`:
   * it must not be in the wallet any more. One by another account has to be forgotten, or the publication fails.
   */
  onWaiting?: (payment: AntWaitingPayment) => unknown;
  journal: AntJournal;
  /** Default: Arbitrum One, with the contracts of the Autonomi network. */
  chain?: AntChain;
}

/** Reasons of the network, the chain and the wallet, in addition to the code of an error. */
export type AntPaymentProblem =
  | 'CHAIN'
  | 'QUOTE'
  | 'RELAYS_DIFFER'
  | 'OVER_LIMIT'
  | 'FEES'
  | 'FUNDS'
  | 'ACCOUNT'
  | 'REJECTED'
  | 'ALLOWANCE'
  | 'REVERTED'
  | 'PENDING'
  | 'UNPAID'
  | 'QUOTE_EXPIRED'
  | 'OUTDATED'
  | 'SHORTFALL'
  | 'OLD_RELAY'
  | 'NOT_STORED'
  | 'CHANGED'
  | 'CLOCK'
  | 'RPC';

export interface AntPublisherOptions {
  /**
   * URLs of peers: `https://host:port`, optionally with `#sha-256=<hex>`, or `http://` on loopback. `/` is the host of the
   * page. Every peer gets every chunk. Either this or `sink`.
   */
  peers?: readonly string[];
  /** The token of the peers for writes. */
  token?: string;
  /** With one that stores whole publications, the content is read and encrypted twice, the first time without progress. */
  sink?: AntSink | AntWholeSink;
  /**
   * The most threads that encrypt content of more than 8 MiB, each with some 70 MB of memory. Default: 4, or the number of
   * processors if that is less. With 1, and where workers cannot start, the caller's thread encrypts.
   */
  threads?: number;
}

/** `hashedBytes` and then `encryptedBytes` go from 0 to `size`. */
export interface AntPublishProgress {
  /** Bytes to publish: of the file, or of the archive. */
  size: number;
  hashedBytes: number;
  encryptedBytes: number;
  /** Chunks that are stored, and how many of them were there before. */
  chunks: number;
  presentChunks: number;
  /** Chunks that could not be stored. The others are stored before the publication fails. Only paid uploads continue so. */
  failedChunks: number;
  /** All chunks of the publication. */
  totalChunks: number;
}

/** The owner of a pointer, and the version. */
export interface AntPointerInit {
  /** 32 secret bytes: the seed ξ of the owner's key pair in ML-DSA-65 (FIPS 204). Keep it: only it can move the pointer. */
  seed: Uint8Array;
  /** A larger counter is newer. */
  counter: bigint;
}

/** The signer of the files of an archive. */
export interface AntSignInit {
  /** 32 secret bytes, as of `AntPointerInit`. Readers name the key by the address of its pointer. */
  seed: Uint8Array;
}

export interface AntPublishInit {
  /** The name of the file or archive, in its link. Default: the name of a `File` or a handle. */
  name?: string;
  /** Only the manifest opens the content, instead of its address. */
  isPrivate?: boolean;
  /** Signs a pointer to the content. Not for private content. */
  pointer?: AntPointerInit;
  /** Signs each file of an archive, and adds the public key as the file `archive.tar.key`. */
  sign?: AntSignInit;
  /** Cancels the publication. Stored chunks stay. */
  signal?: AbortSignal | null;
  /** Called often. An error in it ends the publication. */
  onProgress?: (progress: AntPublishProgress) => void;
}

export interface AntPublished {
  /** 64 hex digits. Of private content, the address of the data map, which is not stored. */
  readonly address: string;
  /** `ant://…`, for `@antway/fetch` and every gateway. Of private content, it contains the manifest. */
  readonly uri: string;
  /** Bytes that were published: of the file, or of the archive. */
  readonly size: number;
  readonly chunks: number;
  readonly presentChunks: number;
  /** Bytes of the chunks that were not there before. */
  readonly uploadedBytes: number;
  /** The only key to private content. */
  readonly manifest: Uint8Array<ArrayBuffer> | undefined;
  readonly pointer: AntPointer | undefined;
  /** Paths in the folder of a handle that were not published: `.git` and files of operating systems. */
  readonly leftOut: readonly string[];
}

export interface AntPointer {
  /** 64 hex digits: of the owner's key. It stays when the target changes. */
  readonly address: string;
  /** The signed record, as the peers store it. */
  readonly record: Uint8Array<ArrayBuffer>;
}

export interface AntPublisher {
  /**
   * Encrypts content here and stores its chunks. The chunk that the address names is stored last: an address that opens is
   * complete.
   * @throws AntError; the signal's reason; the errors of an iterable or a handle; TypeError for content or an option of a wrong
   *   type.
   */
  publish(content: AntPublishInput, init?: AntPublishInit): Promise<AntPublished>;
  /** Cancels everything that runs, and closes the connections. */
  close(): void;
}
