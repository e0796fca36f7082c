/** How long everything else that waits for the thread goes first, in milliseconds. After that it is one by one. */
const longestBackgroundMs = 50;

/**
 * Does long work that gives way to the other tasks of its thread whenever it awaits `nextTurn`. A worker hands out what it
 * has in many small tasks: the pipe to a page holds 64 KiB, and runs dry while the thread does anything else.
 */
export async function inTurns<T>(work: (nextTurn: () => Promise<void>) => Promise<T>): Promise<T> {
  if (!('scheduler' in globalThis)) return work(afterOthers);
  let controller: TaskController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const nextTurn = () => {
    if (!controller) {
      controller = new TaskController({ priority: 'background' });
      timer = setTimeout(() => controller!.setPriority('user-visible'), longestBackgroundMs);
    }
    return scheduler.postTask(() => undefined, { signal: controller.signal });
  };
  try {
    return await work(nextTurn);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after the tasks that this thread has now. `setTimeout` would wait for 4 ms where it is called from itself. */
function afterOthers(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
