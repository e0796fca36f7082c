import type { PublishProgress } from '../../publish/publish.ts';

/** A file to publish, and where it will be found in the archive. The bytes stay where they are until they are read. */
export interface PickedFile {
  /** Relative, with `/` between folders. */
  path: string;
  file: File;
}

/** What is published: one file as itself, or files with paths as one archive. */
export interface PublishInput {
  files: readonly PickedFile[];
  isFolder: boolean;
  /** Of the folder or file; empty for several files without a folder. */
  name: string;
}

/** What the page asks of the publishing worker. One task for each worker; `cancel` ends it. */
export type PublishRequest =
  | ({ task: 'measure' } & PublishInput)
  | ({
      task: 'publish';
      /** Origins of the peers' HTTP transports. */
      peers: readonly string[];
      token: string;
      isPrivate: boolean;
    } & PublishInput)
  /** The tar as it would be sealed. */
  | ({ task: 'tar' } & PublishInput)
  /** A tar of sealed chunks, each named by its address. */
  | ({ task: 'chunks'; isPrivate: boolean } & PublishInput)
  | { task: 'cancel' };

/** What became of a file: its chunks are at the peers, or in a file of the user. */
export interface Sealed {
  address: string;
  chunks: number;
  /** Of a private file: what opens it. Its data map's record, which would open it too, is none of the chunks. */
  manifest: Uint8Array<ArrayBuffer> | null;
}

/** Sizes are bytes. */
export type PublishAnswer =
  | { type: 'measured'; bytes: number; chunks: number }
  | { type: 'progress'; progress: PublishProgress }
  | ({ type: 'published'; presentChunks: number; uploadedBytes: number } & Sealed)
  /** `sealed` is null of a tar, which is not. */
  | { type: 'saved'; content: Blob; sealed: Sealed | null }
  | { type: 'cancelled' }
  | { type: 'failed'; code: string; message: string };
