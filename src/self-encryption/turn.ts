/** Time in milliseconds during which all other tasks of the thread go first. After that, tasks take turns. */
const longestBackgroundMs = 50;

/**
 * Runs long work that yields to the other tasks of its thread at every `await nextTurn()`. A worker sends response
 * bodies in many small tasks: the pipe to a page has room for 64 KiB, and runs empty while the thread is busy.
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

/** Resolves after the tasks that are queued on this thread. A nested `setTimeout` would wait for 4 ms. */
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
