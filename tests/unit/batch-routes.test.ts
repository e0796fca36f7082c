// @module-tag slow
// @module-tag unix
import { randomBytes } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Batch, batchOf, mostOf, requestBatch } from '../../src/payment/batch.ts';
import { NodeRoute } from '../../src/payment/node-route.ts';
import { pay } from '../../src/payment/pay.ts';
import type { PaymentRoute } from '../../src/payment/payment-route.ts';
import { Relay } from '../../src/payment/relay.ts';
import { storePaid } from '../../src/payment/upload.ts';
import { Vault } from '../../src/payment/vault.ts';
import { WalletAccount } from '../../src/payment/wallet-account.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { PayingNodes } from '../support/paying-nodes.ts';
import { upTo } from '../support/payment-limits.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';
import { TestWallet } from '../support/test-wallet.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const { signal } = new AbortController();
const clock = new VirtualClock();

let chain: TestChain;
let double: RelayDouble;
let vault: Vault;
let network: PayingNodes;
let relay: Relay;
let nodes: NodeRoute;

beforeAll(async () => {
  chain = await TestChain.start();
  double = await RelayDouble.start(chain);
  const { token, vault: contract } = chain;
  const parameters = { chainId: TestChain.chainId, token, vault: contract };
  vault = new Vault(parameters, new TestWallet(chain));
  // The relay has the same nodes.
  network = new PayingNodes(20, clock, parameters);
  nodes = new NodeRoute({ nodes: network.client(), chain: parameters, clock });
  relay = new Relay(double.url, 1);
});
afterAll(async () => {
  await double.stop();
  await chain.stop();
});

/** The work of nodes passes virtual time. That of a relay takes real time. */
const run = <T>(route: PaymentRoute, work: Promise<T>) => (route === nodes ? clock.run(work) : work);

it.each([
  ['nodes', 'a relay'],
  ['a relay', 'nodes'],
])(
  'a batch with the prices of %s is paid, and finished by %s',
  async (first) => {
    const [route, other]: [PaymentRoute, PaymentRoute] = first === 'nodes' ? [nodes, relay] : [relay, nodes];
    const chunks = Array.from({ length: 4 }, () => new Uint8Array(randomBytes(100)));
    const records = chunks.map((bytes) => ({ address: bytesToHex(blake3(bytes)), size: bytes.length }));
    const request = requestBatch(records);
    const batch: Batch = batchOf(request, (await run(route, route.pools(request, signal)))!);
    const journal = memoryJournal();
    const due = { batches: [batch], offers: [] };
    await pay({ due }, await WalletAccount.connect(vault), upTo(mostOf(batch)), { vault, journal, signal });
    network.paidBatches.push({ batch, pool: (await journal.batchPayment(batch.root))!.pool });
    for (const [i, record] of records.entries()) {
      const by = i < 2 ? route : other;
      const storing = storePaid(record, chunks[i]!, { relays: [by], journal, signal });
      expect(await run(by, storing)).toBe('stored');
      const holders = network.all.filter(({ stored }) => stored.has(record.address)).length;
      expect([double.stored.has(record.address), holders]).toEqual(by === relay ? [true, 0] : [false, 7]);
    }
  },
  120_000,
);
