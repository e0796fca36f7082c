import * as v from 'valibot';
import type { Address } from '../../address.ts';
import type { Resolver } from '../../content/resolver.ts';
import { AntwayError } from '../../errors.ts';
import * as s from '../../schema.ts';
import { apiHeaders } from '../http/policy.ts';
import { readerOf } from '../pages/reader.ts';
import { confirmation } from '../pages/trust-question.ts';
import { addressIn, addressText, bodyOf, required } from './body.ts';
import type { ApiContext, Endpoint } from './endpoint.ts';
import { listed } from './storage.ts';

/** How long the shell waits until an address is resolved, in milliseconds. */
const resolveMs = 5_000;

/** `/-/trust`: the decisions which sites may run scripts. It accepts forms and checks their tokens. */
export const trust: Endpoint = {
  GET: (_url, _request, { trust }) => listed(trust.list()),
  POST: (_, request, context) =>
    (request.mode === 'navigate' ? decideByForm : decideByJson)(request, context),
  async DELETE(url, _, { trust, endTrust }) {
    const address = addressIn(url);
    await trust.revoke(address);
    endTrust(address);
  },
};

/**
 * Handles the forms of the trust question. The first page restricts the site or leads to the confirmation. Only the
 * confirmation can trust the site. A form with an expired token leads to the question again.
 */
async function decideByForm(request: Request, { trust, tokens, appearance }: ApiContext): Promise<Response> {
  refuseForeignForm(request);
  const form = await request.formData();
  const field = (name: string) => required(form.get(name), name);
  const { origin } = new URL(request.url);
  const next = URL.canParse(field('return'), origin) ? new URL(field('return'), origin) : undefined;
  if (next?.origin !== origin) throw new AntwayError('REFUSED', 'The form leads away from the gateway.');
  const goOn = () => new Response(null, { status: 303, headers: { ...apiHeaders(), Location: next.href } });
  const grant = tokens.take(field('token'));
  if (!grant) {
    tokens.noteOutdated(next.pathname + next.search);
    return goOn();
  }
  const { address, content, step } = grant;
  const choice = field('decision');
  if (choice === 'confirm') {
    const path = next.pathname + next.search + next.hash;
    const reader = await readerOf(request, appearance);
    return confirmation({ ...grant, step: 'confirmation' }, path, reader, tokens);
  }
  if (choice !== 'restricted' && step !== 'confirmation') {
    throw new AntwayError('REFUSED', 'Trust in a site has to be confirmed.');
  }
  const decision = s.parse(
    decisionSchema,
    choice === 'owner' ? 'trusted' : choice,
    'REFUSED',
    '',
    'decision',
  );
  await trust.decide(address, decision, choice === 'owner' ? null : content);
  return goOn();
}

/**
 * Refuses a form if the browser reports that another page submitted it. Not every browser reports the origin to a
 * worker, so the token is the actual protection.
 * @throws AntwayError `REFUSED`.
 */
function refuseForeignForm({ url, headers, referrer }: Request): void {
  const { origin } = new URL(url);
  const isForeign = (page: string) => page !== '' && (!URL.canParse(page) || new URL(page).origin !== origin);
  const site = headers.get('Sec-Fetch-Site') ?? 'same-origin';
  if (isForeign(headers.get('Origin') ?? '') || isForeign(referrer) || site !== 'same-origin') {
    throw new AntwayError('REFUSED', 'This form was not made by the gateway.');
  }
}

const decisionSchema = v.picklist(['trusted', 'restricted']);

const decisionOfShell = s.object({
  address: addressText,
  decision: decisionSchema,
  allVersions: v.optional(v.boolean()),
  /** Binds the trust to this content. Without it, to the current content of the address. */
  content: v.optional(addressText),
});

async function decideByJson(request: Request, { trust, resolver, endTrust }: ApiContext): Promise<void> {
  const { address, decision, allVersions = false, content } = await bodyOf(request, decisionOfShell);
  const isBound = decision === 'trusted' && !allVersions;
  await trust.decide(address, decision, isBound ? (content ?? (await contentOf(address, resolver))) : null);
  if (decision === 'restricted') endTrust(address);
}

/** If resolving fails, returns the address itself. Trust in a pointer then has no content: the gateway asks again. */
async function contentOf(address: Address, resolver: Resolver): Promise<Address> {
  try {
    return (await resolver.locate(address, AbortSignal.timeout(resolveMs))).address;
  } catch {
    return address;
  }
}
