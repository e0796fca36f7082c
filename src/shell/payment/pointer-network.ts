import { Address } from '../../address.ts';
import { finalCounter, type Pointer, parsePointer } from '../../content/pointer.ts';
import type { PointerPeer, StateSource, StatesBefore } from '../../owner/move-pointer.ts';
import type { PaymentChain } from '../../payment/chain.ts';
import { paidPointers } from '../../payment/paid-pointers.ts';
import type { Payment } from '../../payment/pay.ts';
import { findNewer, priceState } from '../../payment/pointer-checks.ts';
import type { RecordToStore } from '../../payment/quotes.ts';
import { Relay } from '../../payment/relay.ts';
import { peersOfRelays, relayPointerReader } from '../../payment/relay-pointers.ts';
import type { NodeNetwork } from '../../server-config.ts';
import { GatewayApiError } from '../gateway-api.ts';
import { partProblem } from '../part-problem.ts';
import type { NetworkResult } from '../publish/publish-session.ts';
import { paymentTexts } from '../texts/payment.ts';
import type { DirectAccess } from './direct-route.ts';
import { openJournal } from './journal-database.ts';
import type { NetworkChoice } from './network-choice.ts';
import type { DueUpload } from './use-payment.ts';

/** The network, as the place where a pointer is stored. */
export interface PointerNetwork {
  peer: PointerPeer;
  /** The relays' own peers, which may store a state that the network does not have. */
  relayPeers: readonly StateSource[];
  /** Other peers that may store a newer state, which the network does not have. */
  others: readonly StateSource[];
  /** The payment for the state of the action, for a receipt. Null if the network had the state before. */
  paid(): PaidState | null;
  /** Ends the connections to nodes. */
  close(): void;
}

/** A state that was paid for, in this run or an earlier one. */
export interface PaidState {
  /** Of the pointer. */
  address: string;
  network: NetworkResult;
}

/** A state to pay for. */
export interface PointerDue extends DueUpload {
  /** The content that the state leads to, if the network does not have it. */
  missing: Address | undefined;
}

export interface PointerPayment {
  /** The user's name for the pointer. */
  name: string;
  /** Resolves when a new state is paid for, or rejects if the user does not pay. Not called if nothing is due. */
  askToPay(due: PointerDue): Promise<Pick<Payment, 'amount' | 'fees'>>;
  /** The user's peers, which may store a newer state. */
  known?: readonly StateSource[];
  signal: AbortSignal;
}

/**
 * Opens the user's ways to the network for one action with a pointer.
 * @throws AntwayError as `PaymentRoute.check`; GatewayApiError `PART_UNAVAILABLE`.
 */
export async function openPointerNetwork(
  { relays: origins, nodes, chain }: NetworkChoice,
  { name, askToPay, known = [], signal }: PointerPayment,
): Promise<PointerNetwork> {
  const direct = nodes && (await openNodesOf(nodes, chain));
  const relays = origins.map((origin) => new Relay(origin));
  const routes = [...(direct ? [direct.route] : []), ...relays];
  const close = () => direct?.close();
  try {
    for (const route of routes) await route.check(chain, signal);
  } catch (error) {
    close();
    throw error;
  }

  const journal = openJournal(chain);
  const parts = { relays: routes, journal, signal };
  const relayPeers = peersOfRelays(relays);
  const others = known.filter(({ url }) => !relayPeers.some((peer) => peer.url === url));
  const places = { relayPeers, others };
  let paidState: PaidState | null = null;
  const payFor = async (due: RecordToStore, record: Uint8Array<ArrayBuffer>, before?: StatesBefore) => {
    const address = Address.fromHex(due.address);
    const wanted = parsePointer(record, address);
    const { bill, lacksTarget } = await priceState(due, wanted, parts, paid);
    const records = [due.stateId!];
    const note = ({ amount, fees }: Pick<Payment, 'amount' | 'fees'>) => {
      paidState = { address: due.address, network: { chain, amount, fees, records } };
    };
    // A wallet also tells whether the chain has lost a payment.
    if (bill.dueRecords === 0 && bill.unseen === 0) {
      const isPaid = (await journal.record(due.stateId!))?.transaction !== undefined;
      return isPaid ? note({ amount: 0n, fees: 0n }) : undefined;
    }
    const upload = { address: due.address, name, records };
    const check = async (signal: AbortSignal) => {
      const newer = before && (await findNewer(wanted, before, { peers: [paid], ...places, signal }));
      if (newer) throw changedMeanwhile(newer);
    };
    const missing = lacksTarget ? wanted.target : undefined;
    note(await askToPay({ upload, bill, chain, check, missing }));
  };
  const readers = [...(direct ? [direct.reader] : []), ...relays.map(relayPointerReader)];
  const paid = paidPointers(readers, payFor, parts);
  const peer: PointerPeer = {
    ...paid,
    async putPointer(address, record, options) {
      const outcome = await paid.putPointer(address, record, options);
      // Also if another device has signed a newer state: this one can never be stored then.
      await journal.removeUpload(address.hex);
      return outcome;
    },
  };
  return { peer, ...places, paid: () => paidState, close };
}

function changedMeanwhile({ counter, target }: Pointer): GatewayApiError {
  const { newerState, frozenMeanwhile } = paymentTexts();
  const text =
    counter === finalCounter ? frozenMeanwhile : newerState(String(counter), `${target.hex.slice(0, 8)}…`);
  return new GatewayApiError('CHANGED', text, { isTranslated: true });
}

/** Most actions need no connections to nodes, so their code is loaded separately. */
async function openNodesOf(network: NodeNetwork, chain: PaymentChain): Promise<DirectAccess> {
  const { openDirect } = await import('./direct-route.ts').catch((error) => {
    throw partProblem(error);
  });
  return openDirect(network, chain);
}
