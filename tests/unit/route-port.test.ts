// @module-tag slow
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkPool, requestBatch } from '../../src/payment/batch.ts';
import { prepareBill } from '../../src/payment/bill.ts';
import { NodeRoute } from '../../src/payment/node-route.ts';
import type { PaymentRoute } from '../../src/payment/payment-route.ts';
import { confirmStored, storePaid } from '../../src/payment/upload.ts';
import { PortRoute, serveRoute } from '../../src/shell/payment/route-port.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { PayingNodes } from '../support/paying-nodes.ts';
import { noise } from '../support/publish.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const chain = { chainId: 31337, token: `0x${'aa'.repeat(20)}`, vault: `0x${'bb'.repeat(20)}` };
const bytes = new Uint8Array(noise(2, 40_000));
const record = { address: bytesToHex(blake3(bytes)), size: bytes.length };
const { signal } = new AbortController();

let clock: VirtualClock;
let network: PayingNodes;
let port: MessagePort;
let end: () => void;

beforeEach(() => {
  clock = new VirtualClock();
  network = new PayingNodes(8, clock, chain);
});
afterEach(() => {
  end();
  port.close();
});

/** The worker's end of a route of the page. */
function remote(route: PaymentRoute = new NodeRoute({ nodes: network.client(), chain, clock })): PortRoute {
  const { port1, port2 } = new MessageChannel();
  end = serveRoute(port1, route);
  port = port2;
  return new PortRoute(port2);
}

/** Lets time pass until the work has ended, although its messages need none. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) await clock.pass(10);
  return work;
}

describe('the route of a page, in its worker', () => {
  it('brings a chunk to the nodes, and reports its progress', async () => {
    const route = remote();
    const parts = { relays: [route], journal: memoryJournal(), signal };
    await passing(route.check(chain, signal));
    const asked: number[] = [];
    const bill = await passing(prepareBill([record], parts, (count) => asked.push(count)));
    expect(asked).toEqual([1]);
    const [offer] = bill.due.offers;
    network.paid.add(offer!.quoteHash);
    await parts.journal.putRecord({ offer: offer!, transaction: `0x${'cd'.repeat(32)}` });
    expect(await passing(storePaid(record, bytes, parts))).toBe('stored');
    await passing(confirmStored([record], parts));
    expect(bytes).toHaveLength(record.size);
    expect(network.all.filter(({ stored }) => stored.has(record.address))).toHaveLength(7);
  });

  it('asks for the pools of a batch, and reports its progress', async () => {
    network = new PayingNodes(17, clock, chain);
    const request = requestBatch([record, { address: 'ab'.repeat(32), size: 1 }]);
    const asked: number[] = [];
    const pools = await passing(remote().pools(request, signal, (count) => asked.push(count)));
    expect(asked).toEqual([1, 2]);
    for (const nodes of pools!) expect(checkPool(nodes, request.timestamp)).toHaveLength(16);
  });

  it('fails with the error of the page', async () => {
    for (const node of network.all.slice(0, 2)) node.faults = { isDead: true };
    await expect(passing(remote().quotes([record], signal))).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringContaining('Only 6 of 7 nodes'),
      details: { payment: 'SHORTFALL' },
    });
  });

  it('aborts the work of the page', async () => {
    let reason: unknown;
    const aborted = new Promise<void>((resolve) => {
      const hanging: PaymentRoute = {
        url: 'hanging',
        isDirect: false,
        hasBatches: false,
        check: () => Promise.resolve(),
        pools: () => Promise.resolve(undefined),
        store: () => Promise.resolve(),
        quotes: (_, own) =>
          new Promise((_resolve, reject) => {
            own.addEventListener('abort', () => {
              resolve();
              reject(own.reason);
            });
          }),
      };
      const stop = new AbortController();
      remote(hanging)
        .quotes([record], stop.signal)
        .catch((error) => {
          reason = error;
        });
      setTimeout(() => stop.abort(new DOMException('Stopped.', 'AbortError')), 10);
    });
    await aborted;
    expect(reason).toMatchObject({ name: 'AbortError', message: 'Stopped.' });
  });

  it('names another failure of the page', async () => {
    const broken = new NodeRoute({
      nodes: { closest: () => Promise.reject(new RangeError('broken')), use: () => Promise.reject() },
      chain,
      clock,
    });
    await expect(remote(broken).check(chain, signal)).rejects.toMatchObject({
      message: 'Direct access failed: broken',
    });
  });
});
