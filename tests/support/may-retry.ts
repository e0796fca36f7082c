import { test } from '@playwright/test';

/**
 * Declares tests that may fail once: they run a second time before they count as failed. All other tests fail at once.
 * @param reason why these tests are here instead of mended. The report shows it.
 * @param declareTests declares the tests. Without it, all tests of the file that calls this may fail once.
 */
export function mayRetry(reason: string, declareTests?: () => void): void {
  const declare = () => {
    test.describe.configure({ retries: 1 });
    test.beforeEach(() => {
      test.info().annotations.push({ type: 'may-retry', description: reason });
    });
    declareTests?.();
  };
  if (declareTests) test.describe(() => declare());
  else declare();
}
