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
      /** Origins of the peers' HTTP faces. */
      peers: readonly string[];
      token: string;
      isPrivate: boolean;
    } & PublishInput)
  /** The tar as it would be sealed. */
  | ({ task: 'tar' } & PublishInput)
  /** A tar of sealed chunks, each named by its address. */
  | ({ task: 'chunks' } & PublishInput)
  | { task: 'cancel' };

/** Sizes are bytes. */
export type PublishAnswer =
  | { type: 'measured'; bytes: number; chunks: number }
  | { type: 'progress'; progress: PublishProgress }
  | {
      type: 'published';
      address: string;
      chunks: number;
      presentChunks: number;
      uploadedBytes: number;
      /** Of a private file: what opens it. */
      manifest: Uint8Array<ArrayBuffer> | null;
    }
  | { type: 'saved'; content: Blob; address: string | null; chunks: number }
  | { type: 'cancelled' }
  | { type: 'failed'; code: string; message: string };
