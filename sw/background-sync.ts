/// <reference lib="webworker" />
import type { Gateway } from '../src/gateway/create-gateway.ts';

declare const self: ServiceWorkerGlobalScope;

/** Chromium's Background Sync API, which is missing in TypeScript's types. */
interface SyncManager {
  register(tag: string): Promise<void>;
}

const syncTag = 'antway-pins';

/**
 * Continues pins when the network is back, and retries peers that were unreachable. Call it during the first run of the
 * worker's script.
 * @returns a function that requests a `sync` event. The browser fires it once there is a network, even without an open
 *   page.
 */
export function registerBackgroundSync(gateway: Gateway): () => void {
  self.addEventListener('sync', (event) => {
    const { tag, waitUntil } = event as ExtendableEvent & { tag: string };
    if (tag === syncTag) waitUntil.call(event, finishPins(gateway));
  });
  const wake = () => {
    if (navigator.onLine) gateway.wake().catch(() => undefined);
  };
  // Service workers in Chromium get only `change` events. Firefox and Safari send only `online` events.
  self.addEventListener('online', wake);
  (navigator as { connection?: EventTarget }).connection?.addEventListener('change', wake);
  return () => {
    const { sync } = self.registration as ServiceWorkerRegistration & { sync?: SyncManager };
    // The browser rejects this without the permission, or if no page is open. The pins then continue when the user next
    // opens Antway.
    sync?.register(syncTag).catch(() => undefined);
  };
}

/** @throws Error if some pins are incomplete. The browser then tries again later. */
async function finishPins(gateway: Gateway): Promise<void> {
  if (!(await gateway.wake())) throw new Error('Not all pins are complete.');
}
