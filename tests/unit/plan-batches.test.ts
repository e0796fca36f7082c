import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BatchRequest } from '../../src/payment/batch.ts';
import { paymentError } from '../../src/payment/errors.ts';
import { type NodePrice, paymentFactor, priceOf } from '../../src/payment/node-price.ts';
import type { PaymentRoute } from '../../src/payment/payment-route.ts';
import { planBatches } from '../../src/payment/plan-batches.ts';
import type { Offer } from '../../src/payment/quotes.ts';
import { problemOf } from '../support/payment-problem.ts';

const { signal } = new AbortController();

const offersFor = (count: number): Offer[] =>
  Array.from({ length: count }, () => {
    const address = randomBytes(32).toString('hex');
    return {
      plan: { address, size: 1, quotes: [] },
      quoteHash: `0x${address}`,
      rewardsAddress: `0x${'07'.repeat(20)}`,
      amount: `${paymentFactor * priceOf(0)}`,
    };
  });

/** The nodes of all pools of a batch. */
function poolsFor({ poolAddresses, timestamp }: BatchRequest, price = priceOf(0)): NodePrice[][] {
  const nodes = Array.from(
    { length: 16 },
    (_, i): NodePrice => ({
      peer: i.toString(16).padStart(64, '0'),
      timestamp,
      price: `${price}`,
      rewardsAddress: `0x${'07'.repeat(20)}`,
      publicKey: '',
      signature: '',
      committedKeyCount: 0,
      commitmentPin: null,
      commitment: null,
    }),
  );
  return poolAddresses.map(() => nodes);
}

function routeWith(pools: PaymentRoute['pools']): PaymentRoute {
  const never = () => expect.fail('Only nodes of batches are asked for.');
  return { url: 'route', isDirect: true, hasBatches: true, check: never, quotes: never, store: never, pools };
}

/** Pending until its signal is aborted, as while nodes are asked. */
const untilAborted = (own: AbortSignal) =>
  new Promise<never>((_, reject) => own.addEventListener('abort', () => reject(own.reason)));

describe('a plan of several batches', () => {
  it('is complete after one batch for whose nodes too few answer, or which is too dear', async () => {
    const offers = offersFor(4 * 256);
    for (const second of ['missing', 'dear'] as const) {
      let asked = 0;
      const route = routeWith(async (request) => {
        if (++asked !== 2) return poolsFor(request);
        return second === 'dear' ? poolsFor(request, 2n * priceOf(0)) : undefined;
      });
      const planned = await planBatches(offers, [route], signal);
      expect(asked, second).toBe(2);
      expect(planned.batches.map(({ chunks }) => chunks.length)).toEqual([256]);
      expect(planned.offers).toEqual(offers.slice(256));
    }
  });
});

describe('a plan by two routes', () => {
  it.each([
    ['finds too few nodes', async () => undefined],
    [
      'does not answer',
      async () => {
        throw paymentError('SHORTFALL', 'silent');
      },
    ],
  ])('ends the requests of one route if the other one %s', async (_, fail) => {
    const offers = offersFor(64);
    for (const failing of [0, 1]) {
      let isAborted = false;
      const working = routeWith((_, own) => {
        own.addEventListener('abort', () => {
          isAborted = true;
        });
        return untilAborted(own);
      });
      const routes = failing === 0 ? [routeWith(fail), working] : [working, routeWith(fail)];
      expect(await planBatches(offers, routes, signal)).toEqual({ batches: [], offers, unconfirmedNodes: 0 });
      expect(isAborted).toBe(true);
    }
  });

  it('has a batch once both routes have found its nodes', async () => {
    const offers = offersFor(64);
    const route = routeWith(async (request) => poolsFor(request));
    const late = routeWith(async (request, own) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      own.throwIfAborted();
      return poolsFor(request);
    });
    for (const routes of [
      [route, late],
      [late, route],
    ]) {
      expect((await planBatches(offers, routes, signal)).batches).toHaveLength(1);
    }
  });

  it('fails if one route lies, and ends the requests of the other one', async () => {
    const lying = routeWith(async () => {
      throw paymentError('QUOTE', 'a lie');
    });
    const working = routeWith((_, own) => untilAborted(own));
    for (const routes of [
      [lying, working],
      [working, lying],
    ]) {
      expect(await problemOf(planBatches(offersFor(64), routes, signal))).toBe('QUOTE');
    }
  });

  it('fails with the reason of the caller who aborts it', async () => {
    const caller = new AbortController();
    const working = routeWith((_, own) => untilAborted(own));
    const planning = planBatches(offersFor(64), [working, working], caller.signal);
    caller.abort(new Error('cancelled by the user'));
    await expect(planning).rejects.toThrow('cancelled by the user');
  });
});
