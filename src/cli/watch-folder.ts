import { watch } from 'chokidar';
import { aborted } from '../util/aborted.ts';
import { fileError } from './disk-file.ts';

/** Programs write several files one after the other. A change counts once no other follows for this long, in milliseconds. */
const quietMs = 200;

/**
 * Calls `onChange` after files of a folder have changed, one call at a time. Changes during a call cause one more call.
 * Resolves when the signal aborts.
 * @param onChange never rejects.
 * @throws AntwayError as `fileError`, if the folder cannot be watched.
 */
export async function watchFolder(
  folder: string,
  onChange: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const watcher = watch(folder, {
    ignoreInitial: true,
    ignored: (path) => /(^|[/\\])\.git([/\\]|$)|[/\\]\.antway-[^/\\]*\.partial/.test(path),
  });
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let isChanged = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    while (isChanged && !signal.aborted) {
      isChanged = false;
      await onChange();
    }
    isRunning = false;
  };
  watcher.on('all', () => {
    isChanged = true;
    clearTimeout(timer);
    timer = setTimeout(() => void run(), quietMs);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      watcher.on('error', (error) => reject(fileError(error, folder)));
      void aborted(signal).then(resolve);
    });
  } finally {
    clearTimeout(timer);
    await watcher.close();
  }
}
