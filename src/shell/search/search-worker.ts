/// <reference lib="webworker" />

import type { SearchAnswer, SearchRequest } from './messages.ts';
import { TextIndex } from './text-index.ts';
import { textOf } from './text-of.ts';

declare const self: DedicatedWorkerGlobalScope;

const index = new TextIndex();

/** Parsing and indexing keep a thread busy, so they run here. The index ends with this worker. */
self.onmessage = ({ data }: MessageEvent<SearchRequest>) => {
  let answer: SearchAnswer;
  try {
    answer = { id: data.id, found: run(data), isFull: index.isFull };
  } catch (error) {
    answer = { id: data.id, error: error instanceof Error ? error.message : String(error) };
  }
  self.postMessage(answer);
};

function run(request: SearchRequest) {
  switch (request.task) {
    case 'add':
      index.begin(request.site);
      for (const { path, type, bytes } of request.documents) {
        if (!index.add(request.site, path, textOf(new Uint8Array(bytes), type))) break;
      }
      return [];
    case 'remove':
      index.remove(request.site);
      return [];
    case 'search':
      return index.search(request.query);
  }
}
