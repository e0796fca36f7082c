/**
 * Resolves after the other tasks that this thread has got meanwhile. `setTimeout` would wait for 4 ms where it is called
 * from itself.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
