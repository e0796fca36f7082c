import type { Address } from '../../address.ts';
import { type Bill, type Priced, prepareBill } from '../../payment/bill.ts';
import type { PaymentChain } from '../../payment/chain.ts';
import type { PaymentRoute } from '../../payment/payment-route.ts';
import type { RecordToStore } from '../../payment/quotes.ts';
import { Relay } from '../../payment/relay.ts';
import { confirmStored, paidSink } from '../../payment/upload.ts';
import type { ChunkSink } from '../../publish/upload.ts';
import { openJournal } from './journal-database.ts';
import type { NetworkChoice } from './network-choice.ts';
import { PortRoute } from './route-port.ts';

/** The ways to the network that the user has chosen, and the chain. */
export interface NetworkRoutes {
  relays: readonly PaymentRoute[];
  chain: PaymentChain;
}

/** @param port to the page, which has the connections to nodes. Needed if the choice has nodes. */
export function routesOf(
  { relays, nodes, chain }: NetworkChoice,
  port: MessagePort | undefined,
): NetworkRoutes {
  const direct = nodes && port ? [new PortRoute(port)] : [];
  return { relays: [...direct, ...relays.map((origin) => new Relay(origin))], chain };
}

/** Asks for the price of records. @throws AntwayError as `PaymentRoute.check` and `prepareBill`. */
export async function askForPrice(
  records: readonly RecordToStore[],
  { relays, chain }: NetworkRoutes,
  signal: AbortSignal,
  onProgress: (asked: number, all: number, what: Priced) => void,
): Promise<Bill> {
  for (const relay of relays) await relay.check(chain, signal);
  return prepareBill(records, { relays, journal: openJournal(chain), signal }, onProgress);
}

/**
 * A sink for records that were paid for. `confirm` makes sure that the network has all of them.
 * @param billed the addresses of all records whose price was asked for.
 */
export function paidUpload({ relays, chain }: NetworkRoutes, billed: readonly string[], signal: AbortSignal) {
  const journal = openJournal(chain);
  const records = new Map<string, RecordToStore>();
  const paid = paidSink(new Set(billed), { relays, journal });
  const sink: ChunkSink = {
    ...paid,
    store(chunk, aborted) {
      const { address, bytes } = chunk;
      records.set(address.hex, { address: address.hex, size: bytes.length });
      return paid.store(chunk, aborted);
    },
  };
  return {
    sink,
    /** @throws AntwayError as `confirmStored`. */
    async confirm({ hex }: Address): Promise<void> {
      await confirmStored([...records.values()], { relays, journal, signal });
      await journal.removeUpload(hex);
    },
  };
}
