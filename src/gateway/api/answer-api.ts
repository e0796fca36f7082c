import { AntwayError } from '../../errors.ts';
import { apiHeaders } from '../http/policy.ts';
import { activity } from './activity.ts';
import { lists, recentFiles } from './catalogue.ts';
import type { ApiContext, Endpoint } from './endpoint.ts';
import { files } from './files.ts';
import { manifests } from './manifests.ts';
import { handedRecords, origin, origins } from './origins.ts';
import { pins } from './pins.ts';
import { appearance, config, reset, settings, testPeer } from './settings.ts';
import { exportSite, importSite } from './site-files.ts';
import { sites, visits } from './sites.ts';
import { cache, health, peers, stats } from './status.ts';
import { trust } from './trust.ts';
import { view } from './view.ts';

/** `/-/…`: the endpoints by which the shell reads the worker's state and sends it the user's decisions. */
const endpoints: Record<string, Endpoint> = {
  stats,
  activity,
  cache,
  peers,
  health,
  config,
  settings,
  'test-peer': testPeer,
  reset,
  sites,
  appearance,
  visits,
  'recent-files': recentFiles,
  lists,
  pins,
  export: exportSite,
  import: importSite,
  files,
  trust,
  manifests,
  origins,
  origin,
  'handed-records': handedRecords,
  view,
};

/**
 * @throws AntwayError `NOT_FOUND` for an unknown endpoint, `METHOD` for an unsupported method, or the endpoint's error.
 */
export async function answerApi(name: string, request: Request, context: ApiContext): Promise<Response> {
  const endpoint = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
  if (!endpoint) throw new AntwayError('NOT_FOUND', `There is no endpoint /-/${name}.`);
  const method = endpoint[request.method === 'HEAD' ? 'GET' : request.method];
  if (!method) {
    const allow = Object.keys(endpoint)
      .flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name))
      .join(', ');
    throw new AntwayError('METHOD', `/-/${name} does not take ${request.method}.`, { allow });
  }
  const result = await method(new URL(request.url), request, context);
  if (result instanceof Response) return result;
  if (result === undefined) return new Response(null, { status: 204, headers: apiHeaders() });
  return new Response(request.method === 'HEAD' ? null : JSON.stringify(result), {
    headers: { ...apiHeaders(), 'Content-Type': 'application/json' },
  });
}
