import { expect, it } from 'vitest';
import { aboutChain } from '../../src/cli/network-payment.ts';
import { arbitrumOne, isNetworkChain, isTestChain, parseChain } from '../../src/payment/chain.ts';

const contracts = `0x${'ab'.repeat(20)},0x${'cd'.repeat(20)}`;

it.each([
  ['31337', true],
  ['1337', true],
  ['421614', true],
  ['1', false],
  ['10', false],
  ['42161', false],
])('chain %s with contracts of its own is for tests: %s', (id, isForTests) => {
  const chain = parseChain(`${id},${contracts}`)!;
  expect(isTestChain(chain)).toBe(isForTests);
  expect(isNetworkChain(chain)).toBe(false);
  expect(aboutChain(chain)).toContain(isForTests ? 'have no value' : 'may have value');
});

it('only the network’s own contracts are those of the network', () => {
  expect(isNetworkChain(arbitrumOne)).toBe(true);
  expect(isNetworkChain({ ...arbitrumOne })).toBe(true);
  expect(isNetworkChain({ ...arbitrumOne, vault: `0x${'cd'.repeat(20)}` })).toBe(false);
  expect(isTestChain(arbitrumOne)).toBe(false);
});
