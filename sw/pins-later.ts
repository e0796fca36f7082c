/// <reference lib="webworker" />
import type { Gateway } from '../src/gateway/create-gateway.ts';

declare const self: ServiceWorkerGlobalScope;

/** Chromium's Background Sync, which TypeScript does not know. */
interface SyncManager {
  register(tag: string): Promise<void>;
}

const syncTag = 'antway-pins';

/**
 * Goes on with pins when the network is back, and asks peers anew that could not be reached. To be called while the worker's script is first run.
 * @returns what asks for a `sync` event as soon as there is a network, even when no page is open by then.
 */
export function workOnPinsLater(gateway: Gateway): () => void {
  self.addEventListener('sync', (event) => {
    const { tag, waitUntil } = event as ExtendableEvent & { tag: string };
    if (tag === syncTag) waitUntil.call(event, finishPins(gateway));
  });
  const wake = () => {
    if (navigator.onLine) gateway.wake().catch(() => undefined);
  };
  // Chromium tells its service workers only by the second one, Firefox and Safari have only the first.
  self.addEventListener('online', wake);
  (navigator as { connection?: EventTarget }).connection?.addEventListener('change', wake);
  return () => {
    const { sync } = self.registration as ServiceWorkerRegistration & { sync?: SyncManager };
    // Refused without the permission, or where no page is open: then a pin goes on when Antway is next open.
    sync?.register(syncTag).catch(() => undefined);
  };
}

/** @throws when something is left to be done: then the browser tries again later. */
async function finishPins(gateway: Gateway): Promise<void> {
  if (!(await gateway.wake())) throw new Error('Not all pins are complete.');
}
