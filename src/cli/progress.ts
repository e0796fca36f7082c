import { Presets, SingleBar } from 'cli-progress';
import type { PublishProgress } from '../publish/publish.ts';
import { formatBytes } from './format.ts';

export interface ProgressDisplay {
  update(progress: PublishProgress): void;
  stop(): void;
}

const lineIntervalMs = 5_000;

/** Shows a bar on a terminal. Elsewhere (a log) it prints a line every five seconds, and nothing for shorter work. */
export function showProgress(stream: NodeJS.WriteStream): ProgressDisplay {
  return stream.isTTY ? showBar(stream) : showLines(stream);
}

function showBar(stream: NodeJS.WriteStream): ProgressDisplay {
  const bar = new SingleBar(
    {
      stream,
      format: '{stage} {bar} {percentage}% of {size} · {chunks} chunks',
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  );
  let isStarted = false;
  return {
    update(progress) {
      const payload = { stage: stageOf(progress), size: formatBytes(progress.size), chunks: progress.chunks };
      // Hashing and encryption are one pass over the bytes each.
      const done = progress.hashedBytes + progress.encryptedBytes;
      if (isStarted) bar.update(done, payload);
      else bar.start(2 * progress.size, done, payload);
      isStarted = true;
    },
    stop: () => bar.stop(),
  };
}

function showLines(stream: NodeJS.WriteStream): ProgressDisplay {
  let lastLine = Date.now();
  return {
    update(progress) {
      if (Date.now() - lastLine < lineIntervalMs) return;
      lastLine = Date.now();
      const { size, hashedBytes, encryptedBytes, chunks } = progress;
      const percent = Math.floor((50 * (hashedBytes + encryptedBytes)) / size);
      stream.write(`${stageOf(progress)}: ${percent}% of ${formatBytes(size)}, ${chunks} chunks stored\n`);
    },
    stop() {},
  };
}

function stageOf({ size, hashedBytes, encryptedBytes }: PublishProgress): string {
  if (hashedBytes < size) return 'Hashing';
  return encryptedBytes < size ? 'Encrypting' : 'Storing';
}
