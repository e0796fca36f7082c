import type { Bill, Priced } from '../../payment/bill.ts';
import type { PublishProgress } from '../../publish/publish.ts';
import type { NetworkChoice } from '../payment/network-choice.ts';

/** A file to publish, and its path in the archive. Its bytes are read only when needed. */
export interface PickedFile {
  /** A relative path with `/` between folders. */
  path: string;
  file: File;
}

/** The content to publish: a single file, or files with paths as one archive. */
export interface PublishInput {
  files: readonly PickedFile[];
  isFolder: boolean;
  /** The name of the folder or file. Empty for several files without a folder. */
  name: string;
  /** The seed of the key that signs the files of an archive, or null. */
  signer: Uint8Array | null;
}

/** A request of the page to the publishing worker. Each worker runs one task, and `cancel` ends it. */
export type PublishRequest =
  | ({ task: 'measure' } & PublishInput)
  | ({
      task: 'publish';
      /** Origins of the peers' HTTP transports. */
      peers: readonly string[];
      token: string;
      isPrivate: boolean;
      /** Null, or where to bring what is paid for: the addresses of `records`. */
      network: (NetworkChoice & { records: readonly string[] }) | null;
    } & PublishInput)
  /** Encrypt without storing, and ask for the price. */
  | ({ task: 'price'; isPrivate: boolean; network: NetworkChoice } & PublishInput)
  /** Create the tar only, without encryption. */
  | ({ task: 'tar' } & PublishInput)
  /** Create a tar of the encrypted chunks, each named by its address. */
  | ({ task: 'chunks'; isPrivate: boolean } & PublishInput)
  | { task: 'cancel' };

/** An encrypted file. Its chunks are at the peers, or in a file of the user. */
export interface EncryptedContent {
  address: string;
  chunks: number;
  /** The manifest decrypts a private file. The data map's record would as well, so it is not among the chunks. */
  manifest: Uint8Array<ArrayBuffer> | null;
}

/** Sizes are in bytes. */
export type PublishAnswer =
  | { type: 'measured'; bytes: number; chunks: number }
  | { type: 'progress'; progress: PublishProgress }
  /** Records whose price is known, of all, or pools of nodes for batches. */
  | { type: 'asked'; asked: number; all: number; what: Priced }
  /** Files that are signed, of all. */
  | { type: 'signing'; signed: number; all: number }
  | ({
      type: 'published';
      presentChunks: number;
      uploadedBytes: number;
      /** The addresses of all chunks, 64 hex digits each, one after the other. The data map's record is the last. */
      uploaded: string;
    } & EncryptedContent)
  /** `address` is the content's, and `records` are the names of its records in the journal. */
  | { type: 'priced'; address: string; records: string[]; bill: Bill }
  /** `encrypted` is null for a tar, because a tar is not encrypted. */
  | { type: 'saved'; content: Blob; encrypted: EncryptedContent | null }
  | { type: 'cancelled' }
  | { type: 'failed'; code: string; message: string };
