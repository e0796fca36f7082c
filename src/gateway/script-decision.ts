import type { ContentHandlerOptions } from './content-handler.ts';
import type { ContentTarget } from './http/target.ts';
import type { OwnOrigins } from './origins/own-origins.ts';
import type { DecisionFor } from './state/trust.ts';

type Options = Pick<ContentHandlerOptions, 'deployment' | 'effective' | 'trust'>;

/** Whether pages of an address may run scripts on this origin at all. A decision of the user is needed too. */
export async function mayRunScripts(
  { address }: ContentTarget,
  ownOrigins: OwnOrigins | undefined,
): Promise<boolean> {
  return !(await ownOrigins?.areAvailable()) || ownOrigins!.isTrustedFromBefore(address);
}

/** If storage is blocked, no decision can be stored: the gateway does not ask, and the site runs no scripts. */
export async function decisionAbout(
  { address }: ContentTarget,
  { deployment, effective, trust }: Options,
): Promise<DecisionFor> {
  switch (deployment.trust) {
    case 'site-settings': {
      const decision = effective.received?.runsScripts === false ? 'restricted' : 'trusted';
      return () => decision;
    }
    // Scripts act with the rights of the embedding site, so only the owner of that site can allow them.
    case 'server-config':
      return () => (effective.config.trusted.has(address.hex) ? 'trusted' : 'restricted');
    case 'user':
      return trust.decision(address).catch((error): DecisionFor => {
        console.warn('antway: decisions cannot be read', error);
        return () => 'restricted';
      });
  }
}
