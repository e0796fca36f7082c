import type { ChunkSink } from '../../publish/upload.ts';
import type { EncryptedChunk } from '../../self-encryption/file.ts';

/** Stores in all sinks, and notes the addresses of the stored chunks. */
export class NotedSink implements ChunkSink {
  readonly #sinks: readonly ChunkSink[];
  readonly #addresses = new Set<string>();

  constructor(sinks: readonly ChunkSink[]) {
    this.#sinks = sinks;
  }

  get uploaded(): string {
    return [...this.#addresses].join('');
  }

  async store(chunk: EncryptedChunk, signal: AbortSignal): Promise<'stored' | 'present'> {
    const storing = this.#sinks.map((sink) => sink.store(chunk, signal));
    const outcomes = await Promise.all(storing).catch(async (error) => {
      // The upload continues, so the other sinks may finish. But an error that ends it comes first.
      const finish = (failure: unknown) => {
        if (!this.mayContinue(failure)) throw failure;
      };
      if (this.mayContinue(error)) await Promise.all(storing.map((stored) => stored.catch(finish)));
      throw error;
    });
    this.#addresses.add(chunk.address.hex);
    return outcomes.includes('stored') ? 'stored' : 'present';
  }

  mayContinue(error: unknown): boolean {
    return this.#sinks.some((sink) => sink.mayContinue?.(error));
  }
}
