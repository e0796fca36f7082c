import type { ChunkStore } from '../chunks/store.ts';
import type { CommandContext } from './context.ts';
import { ContentReader, type Opened } from './open-content.ts';
import type { PeerOptions } from './options.ts';
import type { Output } from './output.ts';
import { loadSettings } from './settings.ts';
import { targetOf } from './target.ts';
import { UsageError } from './usage-error.ts';

export interface ReadOptions extends PeerOptions {
  /** A folder with stored chunks, used instead of the peers. */
  from?: string;
}

/**
 * Opens what a text names, passes it to `use`, and closes the connections.
 * @param store chunks that need not be fetched, and where fetched chunks go.
 * @throws the errors of opening and of `use`.
 */
export async function readTarget<T>(
  text: string,
  options: ReadOptions,
  output: Output,
  { env, signal }: CommandContext,
  use: (opened: Opened, reader: ContentReader) => Promise<T>,
  store?: ChunkStore,
): Promise<T> {
  if (options.from !== undefined && options.peer) throw new UsageError('Give --from or --peer, not both.');
  const settings = await loadSettings(options, env);
  const target = await targetOf(text, settings, output.isSilent, signal);
  const reader = new ContentReader(target, {
    from: options.from,
    ...(store && { store }),
    isSilent: output.isSilent,
    signal,
  });
  try {
    return await use(await reader.open(), reader);
  } finally {
    reader.close();
  }
}
