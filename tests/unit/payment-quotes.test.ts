// @module-tag slow
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatAnt, parseAnt } from '../../src/payment/amounts.ts';
import { parseChain } from '../../src/payment/chain.ts';
import { paymentProblemOf } from '../../src/payment/errors.ts';
import { priceOf } from '../../src/payment/node-price.ts';
import { checkOffer, checkStoredOffer, commonOffer } from '../../src/payment/quotes.ts';
import { fromRoot } from '../support/paths.ts';
import { RelayDouble } from '../support/relay-double.ts';

/** Of seven nodes of the network's own software. */
const real = JSON.parse(readFileSync(fromRoot('tests/fixtures/payments/offer.json'), 'utf8'));
const record = { address: real.address, size: real.plan.size };

/** `offer` makes no request. */
const makeOffer = (...[wanted, committed]: Parameters<RelayDouble['offer']>) =>
  RelayDouble.prototype.offer.call({ faults: {} } as RelayDouble, wanted, committed);

function problem(offer: unknown, wanted: Parameters<typeof checkOffer>[1] = record): string {
  try {
    checkOffer(offer, wanted);
  } catch (error) {
    expect(paymentProblemOf(error)).toBe('QUOTE');
    return (error as Error).message.replace(/^.*? is not valid: /, '');
  }
  throw new Error('The offer was accepted.');
}

/** A copy with a change. */
// biome-ignore lint/suspicious/noExplicitAny: it breaks the offer on purpose
function changed(change: (offer: any) => void, offer: unknown = real): unknown {
  const copy = structuredClone(offer);
  change(copy);
  return copy;
}

const flip = (base64: string) => (base64.startsWith('A') ? 'B' : 'A') + base64.slice(1);

describe('an offer', () => {
  it('of real nodes is accepted', () => {
    const { plan, quoteHash, amount } = checkOffer(real, record);
    expect(plan).toEqual(real.plan);
    expect(quoteHash).toBe(real.quoteHash);
    expect(BigInt(amount)).toBe(3n * priceOf(0));
  });

  it.each([
    ['another record', (o) => (o.plan.address = '00'.repeat(32)), 'It is for another record.'],
    ['another size', (o) => o.plan.size++, 'It is for another record.'],
    ['a state', (o) => (o.plan.stateId = '00'.repeat(32)), 'It is for another record.'],
    ['six quotes', (o) => o.plan.quotes.pop(), 'It has 6 quotes instead of 7.'],
    ['a node twice', (o) => (o.plan.quotes[1] = o.plan.quotes[0]), 'A node is in it twice.'],
    ['another order', (o) => o.plan.quotes.reverse(), 'The quotes are not in the order of their prices.'],
    [
      'another key',
      (o) => (o.plan.quotes[0].publicKey = flip(o.plan.quotes[0].publicKey)),
      'A node has another key.',
    ],
    [
      'another signature',
      (o) => (o.plan.quotes[0].signature = flip(o.plan.quotes[0].signature)),
      'A node did not sign its quote.',
    ],
    ['another time', (o) => o.plan.quotes[6].timestamp++, 'A node did not sign its quote.'],
    [
      'another account',
      (o) => (o.plan.quotes[0].rewardsAddress = `0x${'66'.repeat(20)}`),
      'A node did not sign its quote.',
    ],
    [
      'a higher price',
      (o) => (o.plan.quotes[6].price = '3906250000000001'),
      'A price does not follow the rule of the network.',
    ],
    [
      'a count without a commitment',
      (o) => {
        for (const quote of o.plan.quotes) {
          quote.committedKeyCount = 6000;
          quote.price = `${priceOf(6000)}`;
        }
      },
      'A node did not sign its quote.',
    ],
    [
      'another hash',
      (o) => (o.quoteHash = `0x${'66'.repeat(32)}`),
      'Its hash is not that of the middle quote.',
    ],
    [
      'another payee',
      (o) => (o.rewardsAddress = `0x${'66'.repeat(20)}`),
      'It is to be paid to another account.',
    ],
    [
      'another amount',
      (o) => (o.amount = '11718750000000001'),
      'It is not three times the price of the middle quote.',
    ],
    ['an amount of 0', (o) => (o.amount = '0'), 'It is not three times the price of the middle quote.'],
    // biome-ignore lint/suspicious/noExplicitAny: it breaks the offer on purpose
  ] satisfies [string, (offer: any) => unknown, string][])('with %s is refused', (_, change, message) => {
    expect(problem(changed(change))).toBe(message);
  });

  it('of another form is refused', () => {
    for (const value of [
      undefined,
      {},
      { ...real, more: 1 },
      { ...real, amount: 11718750000000000 },
      { ...real, amount: '011718750000000000' },
      { ...real, quoteHash: real.quoteHash.slice(2) },
      changed((offer) => (offer.plan.quotes[0].publicKey = 'AAAA')),
      changed((offer) => (offer.plan.quotes[0].timestamp = -1)),
    ])
      expect(problem(value)).toMatch(/it must be|is missing|no such key|the whole|status|Expected|Invalid/i);
  });

  it('that other relays would not take is refused', () => {
    // The same key. Relays take only the text without spare bits.
    const respelled = changed((offer) => {
      const [quote] = offer.plan.quotes;
      const next = (digit: string) => String.fromCharCode(digit.charCodeAt(0) + 1);
      quote.publicKey = quote.publicKey.replace(/.(?==$)/, next);
      expect(Buffer.from(quote.publicKey, 'base64')).toEqual(
        Buffer.from(real.plan.quotes[0].publicKey, 'base64'),
      );
    });
    expect(problem(respelled)).toMatch('it must be 1952 bytes in base64');
    // Relays know no time after the year 9999.
    const wanted = { address: 'ab'.repeat(32), size: 1 };
    const late = (timestamp: number) =>
      RelayDouble.prototype.offer.call({ faults: { timestamp } } as RelayDouble, wanted);
    expect(problem(late(253_402_300_800), wanted)).toMatch('it must be a time before the year 10000');
    expect(checkOffer(late(253_402_300_799), wanted).plan.quotes).toHaveLength(7);
  });

  it('of nodes with records has their commitments', () => {
    const wanted = { address: 'ab'.repeat(32), size: 1000 };
    const offer = makeOffer(wanted, 6000);
    expect(BigInt(checkOffer(offer, wanted).amount)).toBe(3n * priceOf(6000));
    // 0.00390625 + 0.03515625 ANT.
    expect(formatAnt(priceOf(6000))).toBe('0.0390625 ANT');
    const wrong = (change: Parameters<typeof changed>[0]) => problem(changed(change, offer), wanted);
    expect(wrong((o) => (o.plan.quotes[0].commitment = null))).toBe('A price without a commitment.');
    expect(wrong((o) => o.plan.quotes[0].commitment.keyCount++)).toBe('A commitment to other records.');
    expect(wrong((o) => (o.plan.quotes[0].commitment.root = '66'.repeat(32)))).toBe(
      'A commitment is not the one of the price.',
    );
    expect(
      wrong((o) => (o.plan.quotes[0].commitment.signature = flip(o.plan.quotes[0].commitment.signature))),
    ).toBe('A commitment is not the one of the price.');
    expect(wrong((o) => (o.plan.quotes[0].commitmentPin = '66'.repeat(32)))).toBe(
      'A node did not sign its quote.',
    );
  });

  it('for a pointer is for one state', () => {
    const wanted = { address: 'ab'.repeat(32), size: 5303, stateId: 'cd'.repeat(32) };
    const offer = makeOffer(wanted);
    expect(checkOffer(offer, wanted).plan.stateId).toBe(wanted.stateId);
    expect(problem(offer, { ...wanted, stateId: 'ce'.repeat(32) })).toBe('It is for another record.');
  });
});

it('an offer of two relays has the nodes that both name, if they are at least four', () => {
  const wanted = { address: 'ab'.repeat(32), size: 1 };
  const from = (firstNode: number) =>
    checkOffer(RelayDouble.prototype.offer.call({ faults: { firstNode } } as RelayDouble, wanted), wanted);
  const count = (node: number) => commonOffer(from(0), from(node))?.plan.quotes.length;
  expect([0, 1, 2, 3, 4, 7].map(count)).toEqual([7, 6, 5, 4, undefined, undefined]);
  const own = from(0);
  expect(commonOffer(own, from(0))).toEqual(own);
  const common = commonOffer(from(0), from(3))!;
  expect(checkStoredOffer(common, wanted)).toEqual(common);
  // One relay alone has to name seven.
  expect(problem({ ...common, address: wanted.address, status: 'quoted' }, wanted)).toBe(
    'It has 4 quotes instead of 7.',
  );
});

it('amounts are exact', () => {
  expect([parseAnt('1'), parseAnt('0.5'), parseAnt('0.000000000000000001')]).toEqual([
    10n ** 18n,
    5n * 10n ** 17n,
    1n,
  ]);
  for (const text of ['', '1.', '.5', '-1', '1e3', '1,5', '0.0000000000000000001'])
    expect(parseAnt(text)).toBeUndefined();
  expect([formatAnt(0n), formatAnt(1n), formatAnt(25n * 10n ** 17n)]).toEqual([
    '0 ANT',
    '0.000000000000000001 ANT',
    '2.5 ANT',
  ]);
});

it('a chain has an id and two contracts', () => {
  const [token, vault] = [`0x${'1a'.repeat(20)}`, `0x${'2b'.repeat(20)}`];
  expect(parseChain(`31337,${token.toUpperCase().replace('0X', '0x')},${vault}`)).toEqual({
    chainId: 31337,
    token,
    vault,
  });
  for (const text of ['', '31337', `31337,${token}`, `x,${token},${vault}`, `1,${token},0x12`])
    expect(parseChain(text)).toBeUndefined();
});
