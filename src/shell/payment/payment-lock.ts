/** Only one tab at a time pays, finds out what was paid, or deletes what was paid. */
const lockName = 'antway-payments';

/** Does work while no other tab pays. @returns whether the work was done; false if another tab pays. */
export async function doneAlone(work: () => Promise<void>): Promise<boolean> {
  return navigator.locks.request(lockName, { ifAvailable: true }, async (lock) => {
    if (lock) await work();
    return lock !== null;
  });
}
