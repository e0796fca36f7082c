import type { FoundDocument } from './text-index.ts';
import type { DocumentType } from './text-of.ts';

/** A request of the page to the search worker. */
export type SearchRequest =
  | { id: number; task: 'add'; site: string; documents: readonly IncomingDocument[] }
  | { id: number; task: 'remove'; site: string }
  | { id: number; task: 'search'; query: string };

export interface IncomingDocument {
  path: string;
  type: DocumentType;
  bytes: ArrayBuffer;
}

/** `isFull`: the index has no room for all documents. */
export type SearchAnswer =
  | { id: number; found: FoundDocument[]; isFull: boolean }
  | { id: number; error: string };
