import { Address, fromHex, toHex } from '../address.ts';
import { finalCounter, newestPointer, type Pointer, parsePointer } from '../content/pointer.ts';
import { AntwayError } from '../errors.ts';

/** A state of the pointer that this device signed, or that a peer answered. */
export interface OwnerState {
  counter: bigint;
  kind: Pointer['kind'];
  target: Address;
  /** When this device signed the state, or saw it first; RFC 3339. */
  signed: string;
}

/**
 * All known states of one owner's pointer, the smallest counter first. A new state is added before it is sent anywhere,
 * so no counter is used twice. Never changed: `with…` returns a copy.
 */
export class OwnerStates {
  private constructor(
    readonly address: Address,
    readonly all: readonly OwnerState[],
    /** The newest state with its signature. Undefined if there is no state. */
    readonly newest: Pointer | undefined,
  ) {}

  static empty(address: Address): OwnerStates {
    return new OwnerStates(address, [], undefined);
  }

  get isFrozen(): boolean {
    return this.newest?.counter === finalCounter;
  }

  /** Whether the newest counter was signed for two targets, as two devices can do. Then peers can have either. */
  get isForked(): boolean {
    return this.all.filter(({ counter }) => counter === this.newest?.counter).length > 1;
  }

  /** Adds verified states of this pointer. */
  withPointers(pointers: readonly Pointer[], now = new Date()): OwnerStates {
    const all = [...this.all];
    for (const { counter, kind, target } of pointers) {
      const isKnown = all.some((state) => state.counter === counter && isTarget(state, { kind, target }));
      if (!isKnown) all.push({ counter, kind, target, signed: now.toISOString() });
    }
    all.sort((a, b) => (a.counter < b.counter ? -1 : a.counter > b.counter ? 1 : 0));
    return new OwnerStates(this.address, all, newestPointer(this.newest, pointers));
  }

  toJson(): string {
    const states = this.all.map(({ counter, kind, target, signed }) => ({
      counter: String(counter),
      kind,
      target: target.hex,
      signed,
    }));
    const record = this.newest && toHex(this.newest.record);
    return `${JSON.stringify({ antwayStates: 1, address: this.address.hex, record, states }, null, 2)}\n`;
  }

  /** @throws AntwayError `BAD_CONFIG` if the text is damaged, of a newer version, or of another pointer. */
  static fromJson(text: string, address: Address): OwnerStates {
    try {
      const value = JSON.parse(text);
      if (value.antwayStates !== 1 || value.address !== address.hex) throw new Error('another pointer');
      const all = (value.states as Record<string, string>[]).map(stateOf);
      const newest = value.record === undefined ? undefined : parsePointer(fromHex(value.record), address);
      const isComplete = all.every(({ counter }) => newest !== undefined && counter <= newest.counter);
      if (!isComplete) throw new Error('the newest record is missing');
      return new OwnerStates(address, all, newest);
    } catch (cause) {
      const message = 'The stored states of the pointer are damaged, or they are of another pointer.';
      throw new AntwayError('BAD_CONFIG', message, { address: address.hex }, { cause });
    }
  }
}

/** Whether two states lead to the same record. */
export function isTarget(
  state: Pick<Pointer, 'kind' | 'target'>,
  other: Pick<Pointer, 'kind' | 'target'>,
): boolean {
  return state.kind === other.kind && state.target.hex === other.target.hex;
}

function stateOf({ counter, kind, target, signed }: Record<string, string>): OwnerState {
  if (!/^\d{1,20}$/.test(counter ?? '') || BigInt(counter!) > finalCounter) throw new Error('no counter');
  if (kind !== 'chunk' && kind !== 'pointer') throw new Error('no kind');
  if (Number.isNaN(Date.parse(signed ?? ''))) throw new Error('no time');
  return { counter: BigInt(counter!), kind, target: Address.fromHex(target ?? ''), signed: signed! };
}
