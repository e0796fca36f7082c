import type { Deployment } from './deployment.ts';
import { dependsOnClient, type PolicyRequest } from './http/policy.ts';
import { type ContentTarget, parseTarget } from './http/target.ts';
import { clientUrl, type RequestContext } from './request-context.ts';
import type { EffectiveConfig } from './state/configuration.ts';

interface PolicyRequestOptions {
  deployment: Deployment;
  effective: EffectiveConfig;
}

/** Returns the input for the policy, except whether the address is trusted. */
export async function policyRequestOf(
  target: ContentTarget,
  request: Request,
  context: RequestContext,
  options: PolicyRequestOptions,
): Promise<Omit<PolicyRequest, 'isTrusted'>> {
  const { mode, origin, workerPath } = options.deployment;
  const policy = {
    mode,
    destination: request.destination,
    requestMode: request.mode,
    scope: {
      origin,
      pathPrefix: target.root + (target.path === undefined && target.root ? '' : '/'),
      workerPath,
    },
    targetAddress: target.address.hex,
  };
  const isNeeded = [true, false].some((isTrusted) => dependsOnClient({ ...policy, isTrusted }));
  if (!isNeeded) return policy;
  // A navigation has no client. Its referrer is the navigating page, unless that page forbids it.
  const url = await clientUrl(request, context, options.deployment);
  return { ...policy, clientAddress: addressOf(url, options) };
}

/** @returns null for a page of this origin that is not content, undefined for all other URLs. */
function addressOf(url: string, { deployment, effective }: PolicyRequestOptions): string | null | undefined {
  if (!URL.canParse(url) || new URL(url).origin !== deployment.origin) return undefined;
  try {
    const target = parseTarget(new URL(url), effective.config, deployment);
    return target.kind === 'content' || target.kind === 'redirect' ? target.content.address.hex : null;
  } catch {
    return undefined;
  }
}
