import { test } from '@playwright/test';

/**
 * Declares tests that may fail once: they run a second time before they count as failed. All other tests fail at once.
 * @param reason why a test is here instead of mended. The report shows it.
 */
export function mayRetry(reason: string, declareTests: () => void): void {
  test.describe(() => {
    test.describe.configure({ retries: 1 });
    test.beforeEach(() => {
      test.info().annotations.push({ type: 'may-retry', description: reason });
    });
    declareTests();
  });
}
