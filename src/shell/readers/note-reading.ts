import { inReader, type ViewPlan, viewHeader } from '../../gateway/http/view-plan.ts';
import { ask } from '../gateway-api.ts';
import { contentHref, type ReaderLocation } from './location.ts';

/**
 * Has the worker record a visit of the content, so that it opens again in a reader.
 * @throws GatewayApiError with the gateway's error for the content.
 */
export async function noteReading(location: ReaderLocation, signal: AbortSignal): Promise<void> {
  const init = { signal, headers: { [viewHeader]: inReader } };
  const plan = (await ask(contentHref(location), init)) as ViewPlan;
  // The path of a folder without its slash.
  if (plan.kind === 'moved') await ask(plan.path, init);
}
