/// <reference lib="webworker" />
import { IndexedDbStore } from '../src/chunks/indexed-db-store.ts';
import { notifyPages } from '../src/gateway/api/broadcast.ts';
import { createGateway, type Gateway, type GatewayDependencies } from '../src/gateway/create-gateway.ts';
import type { Deployment } from '../src/gateway/deployment.ts';
import type { RequestClient } from '../src/gateway/request-context.ts';
import { stateStore } from '../src/gateway/state/state-store.ts';
import { Stats } from '../src/stats/stats.ts';

declare const self: ServiceWorkerGlobalScope;

/** Creates a gateway that stores data in the worker's IndexedDB and notifies the pages of its origin. */
export function createWorkerGateway(
  deployment: Deployment,
  dependencies: Pick<GatewayDependencies, 'platform' | 'serverConfig' | 'buildHash' | 'nodes'>,
): Gateway {
  const stats = new Stats();
  const store = new IndexedDbStore(stats);
  return createGateway(deployment, { ...dependencies, stats, store, state: stateStore, notify: notifyPages });
}

export async function clientOf({ clientId }: FetchEvent): Promise<RequestClient | undefined> {
  const client = clientId ? await self.clients.get(clientId) : undefined;
  if (!client) return undefined;
  return { url: client.url, isTopLevel: client instanceof WindowClient && client.frameType !== 'nested' };
}

/** Whether the page with this id still exists. */
export async function isOpen(id: string): Promise<boolean> {
  return (await self.clients.get(id)) !== undefined;
}
