import { Presets, SingleBar } from 'cli-progress';
import type { PublishProgress } from '../publish/publish.ts';
import { formatBytes } from './format.ts';
import type { Output } from './output.ts';

/** Shows the progress of a publication on a terminal. */
export function showPublication(output: Output) {
  const bar = barOf(output, '{stage} {bar} {percentage}% of {size} · {chunks}');
  return {
    update(progress: PublishProgress): void {
      const payload = {
        stage: stageOf(progress),
        size: formatBytes(progress.size),
        chunks: chunksOf(progress),
      };
      // Hashing and encryption are one pass over the bytes each.
      bar.update(progress.hashedBytes + progress.encryptedBytes, 2 * progress.size, payload);
    },
    stop: bar.stop,
  };
}

/** Shows on a terminal how many things are done. @param things such as `files`. */
export function showCount(output: Output, verb: string, things: string) {
  const bar = barOf(output, `${verb} {bar} {value} of {total} ${things}`);
  return { update: (done: number, total: number) => bar.update(done, total, {}), stop: bar.stop };
}

function barOf(output: Output, format: string) {
  const { showsProgress } = output;
  const bar = showsProgress
    ? new SingleBar(
        { stream: process.stderr, format, hideCursor: true, clearOnComplete: true },
        Presets.shades_classic,
      )
    : undefined;
  let isStarted = false;
  return {
    update(done: number, total: number, payload: object): void {
      if (isStarted) {
        bar?.setTotal(total);
        bar?.update(done, payload);
      } else {
        bar?.start(total, done, payload);
      }
      isStarted = true;
    },
    stop(): void {
      if (isStarted) bar?.stop();
      isStarted = false;
    },
  };
}

function chunksOf({ chunks, failedChunks }: PublishProgress): string {
  return failedChunks === 0 ? `${chunks} chunks` : `${chunks} chunks, ${failedChunks} failed`;
}

function stageOf({ size, hashedBytes, encryptedBytes }: PublishProgress): string {
  if (hashedBytes < size) return 'Hashing';
  return encryptedBytes < size ? 'Encrypting' : 'Storing';
}
