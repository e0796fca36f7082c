import { apiHeaders } from './policy.ts';
import { isDownload, type Representation } from './representation.ts';
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
  representation: Representation,
  hasScripts: boolean,
  decision: 'trusted' | 'restricted' | undefined,
): ViewPlan {
  return {
    kind: 'shared-origin',
    address: address.hex,
    type: representation.headers['Content-Type'] ?? '',
    isSaved: isDownload(representation),
    hasScripts,
    decision: decision ?? null,
  };
}
