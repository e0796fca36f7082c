export interface ShellPage {
  evaluate(run: () => Promise<boolean>): Promise<boolean>;
}

/**
 * Has the worker store all files that the shell needs offline. After a first visit it has only those of the first screen.
 * @param shell a page with the shell, whose worker controls it.
 * @returns whether all of them are stored.
 */
export function storeShell(shell: ShellPage): Promise<boolean> {
  return shell.evaluate(
    () =>
      new Promise<boolean>((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => resolve(data);
        navigator.serviceWorker.controller!.postMessage({ type: 'STORE_FILES' }, [port2]);
      }),
  );
}

/** Waits until all files of the shell are stored. Call this before the host goes away. Parameter as of `storeShell`. */
export async function shellStored(shell: ShellPage): Promise<void> {
  if (!(await storeShell(shell))) throw new Error('The worker could not store all files of the shell.');
}
