import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { batchOf, requestBatch } from '../../src/payment/batch.ts';
import { arbitrumOne } from '../../src/payment/chain.ts';
import { checkDue } from '../../src/payment/check-due.ts';
import { Vault } from '../../src/payment/vault.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { problemOf } from '../support/payment-problem.ts';

const account = `0x${'aa'.repeat(20)}`;
const hex = (value: number) => `0x${value.toString(16)}`;

/** The chain of the network, where every account has more than enough. */
function vaultAt(seconds: number): Vault {
  const answers: Record<string, unknown> = {
    eth_chainId: hex(arbitrumOne.chainId),
    eth_getBlockByNumber: { timestamp: hex(seconds) },
    eth_call: `0x${'0f'.padEnd(64, '0')}`,
    eth_getBalance: `0x${'f'.repeat(20)}`,
    eth_gasPrice: '0x1',
  };
  return new Vault(arbitrumOne, { request: async ({ method }) => answers[method] });
}

/** Asks for prices, and checks them before the payment, some seconds later. */
function check(aheadSeconds: number, waitedSeconds = 0): Promise<unknown> {
  const now = Math.floor(Date.now() / 1000);
  const chunks = [1, 2].map(() => ({ address: randomBytes(32).toString('hex'), size: 1 }));
  const request = requestBatch(chunks, (now + aheadSeconds - waitedSeconds) * 1000);
  const nodes = Array.from({ length: 16 }, (_, i) => ({
    peer: `${i}`,
    timestamp: request.timestamp,
    price: '1',
    rewardsAddress: account,
    publicKey: '',
    signature: '',
    committedKeyCount: 0,
    commitmentPin: null,
    commitment: null,
  }));
  const pools = request.poolAddresses.map(() => nodes);
  const { signal } = new AbortController();
  const parts = { vault: vaultAt(now), journal: memoryJournal(), signal };
  return checkDue([{ batch: batchOf(request, pools) }], account, parts);
}

it.each([-3600, 0, 59])('a batch is paid by a device whose clock is %s seconds ahead', async (ahead) => {
  expect(await check(ahead)).toEqual(new Set());
});

// Nodes would refuse the payment until their clocks have reached its time.
it.each([65, 120, 590, 660])(
  'no batch is paid by a device whose clock is %s seconds ahead',
  async (ahead) => {
    expect(await problemOf(check(ahead))).toBe('CLOCK');
  },
);

it('a batch is paid once its time has come', async () => {
  expect(await check(120, 60)).toEqual(new Set());
});
