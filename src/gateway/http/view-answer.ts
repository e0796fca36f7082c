import { isSavedType } from './content-type.ts';
import { apiHeaders } from './policy.ts';
import type { Representation } from './representation.ts';
import type { ContentTarget } from './target.ts';
import type { ViewPlan } from './view-plan.ts';

export function viewAnswer(plan: ViewPlan): Response {
  return new Response(JSON.stringify(plan), {
    headers: { ...apiHeaders(), 'Content-Type': 'application/json' },
  });
}

/** @param hasScripts whether the document could run scripts. @param decision of the user about scripts. */
export function sharedPlan(
  { address }: ContentTarget,
  { headers }: Representation,
  hasScripts: boolean,
  decision: 'trusted' | 'restricted' | undefined,
): ViewPlan {
  const type = headers['Content-Type'] ?? '';
  return {
    kind: 'shared-origin',
    address: address.hex,
    type,
    isSaved: isSavedType(type) || headers['Content-Disposition']?.startsWith('attachment') === true,
    hasScripts,
    decision: decision ?? null,
  };
}
