import type { Address } from '../address.ts';
import { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { type Pointer, parsePointer } from '../content/pointer.ts';
import { AntwayError, asAntwayError, type ErrorDetails, isAbort } from '../errors.ts';
import { limits } from '../limits.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { OwnerKey } from './owner-key.ts';
import { freezePointer, type PointerTarget, signPointer } from './sign-pointer.ts';
import { isTarget, OwnerStates } from './states.ts';

/** How long places are asked that the user did not choose. */
const othersMs = 5_000;

/** Stores pointers: `HttpWriter` is one. */
export interface PointerWriter {
  readonly url: string;
  /**
   * Called with a new record before it is saved and sent, such as to pay for it.
   * @throws if the record must not be used. Then the state counts as never signed.
   */
  prepare?(
    address: Address,
    record: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
    before?: StatesBefore,
  ): Promise<void>;
  /** @throws as `HttpWriter.putPointer`. */
  putPointer(
    address: Address,
    record: Uint8Array<ArrayBuffer>,
    options: { token?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<'stored' | 'present' | 'outdated'>;
}

/** The states of a pointer before a new record counts. */
export interface StatesBefore {
  /** Has the new record only if it is sent again. */
  states: OwnerStates;
  /** Stores further states durably, also if the new record is not used. */
  learn(found: readonly Pointer[]): Promise<void>;
}

/** A peer that stores pointers and tells them. */
export interface PointerPeer extends PointerWriter {
  /** @throws AntwayError `NOT_FOUND` if the peer has no chunk there. */
  fetch(address: Address, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
  /** @throws AntwayError `NOT_FOUND` if the peer has no pointer there. */
  pointer(address: Address, maxBytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
}

/** Tells the states of pointers. */
export type StateSource = Pick<PointerPeer, 'url' | 'pointer'>;

export interface MoveOptions {
  peers: readonly PointerPeer[];
  /**
   * The relays' own peers, which may store a state that the network does not have. They have to answer. Each looks the
   * pointer up in the network first, for 8 seconds by default.
   */
  relayPeers?: readonly StateSource[] | undefined;
  /**
   * Further places that may have a newer state, such as peers that the user did not choose. They get a short time to answer,
   * and may fail.
   */
  others?: readonly StateSource[] | undefined;
  /** The states that this device knows. */
  states: OwnerStates;
  /**
   * Stores the states durably. Called before a new state is sent.
   * @param sendingTo the URLs of the peers that the newest state is sent to next. Undefined if it is sent nowhere.
   */
  save(states: OwnerStates, sendingTo?: readonly string[]): Promise<void>;
  /** The write token of the peers. */
  token?: string | undefined;
  signal: AbortSignal;
}

/** The places that are asked for states. */
export type StateSources = Pick<MoveOptions, 'peers' | 'relayPeers' | 'others'>;

export interface Moved {
  pointer: Pointer;
  states: OwnerStates;
  /** The URLs of the peers, by their answers. */
  stored: string[];
  present: string[];
}

/**
 * Leads the owner's pointer to `target`: asks every peer for its state, signs a higher counter, saves it and stores it
 * at every peer. If the pointer already leads there, the newest record is sent again, so that peers without it get it.
 * @throws AntwayError `PEERS_UNREACHABLE` if a peer or a relay's own peer does not tell its state, because its counter
 *   could be higher; then nothing is signed. `REFUSED` if the pointer is frozen, or if a peer refuses the record; as
 *   `signPointer`.
 */
export async function movePointer(
  key: OwnerKey,
  target: PointerTarget,
  options: MoveOptions,
): Promise<Moved> {
  const { states, pointer } = await askAll(key.address, options);
  if (pointer && isTarget(pointer, target) && !states.isForked) return saveAndSend(pointer, states, options);
  return saveAndSend(signPointer(key, target, states.all), states, options);
}

/**
 * Freezes the owner's pointer at its present target. A frozen pointer is sent again.
 * @param options `confirm` learns what is frozen, and throws if the user does not want it. Nothing can undo it.
 * @throws as `movePointer` and `confirm`; `NOT_FOUND` if the pointer has no state, `REFUSED` if two targets were signed for
 *   the newest counter.
 */
export async function freezeNow(
  key: OwnerKey,
  options: MoveOptions & { confirm(pointer: Pointer): Promise<void> },
): Promise<Moved> {
  const { states, pointer } = await askAll(key.address, options);
  if (!pointer) {
    const { hex } = key.address;
    throw new AntwayError('NOT_FOUND', 'The pointer has no state that could be frozen.', { address: hex });
  }
  if (states.isFrozen) return saveAndSend(pointer, states, options);
  if (states.isForked) {
    const message = 'Two devices signed the newest state with different targets. Update the pointer first.';
    throw new AntwayError('REFUSED', message, { address: key.address.hex });
  }
  await options.confirm(pointer);
  return saveAndSend(freezePointer(key, pointer, states.all), states, options);
}

/**
 * Sends the newest state again, such as to a peer that does not have it. Nothing is signed.
 * @throws AntwayError `NOT_FOUND` if the pointer has no state; as `askAll` and `storePointer`.
 */
export async function sendAgain(address: Address, options: MoveOptions): Promise<Moved> {
  const { states, pointer } = await askAll(address, options);
  if (pointer) return saveAndSend(pointer, states, options);
  throw new AntwayError('NOT_FOUND', 'The pointer has no state that could be sent.', {
    address: address.hex,
  });
}

/**
 * Asks every peer for its state of a pointer, and other places that may have a newer one.
 * @returns the known states with those that were `found`; an answer that the owner did not sign counts as none. `answers`
 *   are those of the peers.
 * @throws AntwayError `PEERS_UNREACHABLE` if a peer or a relay's own peer does not answer.
 */
export async function askAll(
  address: Address,
  {
    peers,
    relayPeers = [],
    others = [],
    states,
    signal,
  }: StateSources & Pick<MoveOptions, 'states' | 'signal'>,
): Promise<{
  states: OwnerStates;
  pointer: Pointer | undefined;
  found: Pointer[];
  answers: Map<string, Pointer | undefined>;
}> {
  const asked = peers.map(async (peer) => [peer.url, await ask(peer, address, signal)] as const);
  const further = [
    ...relayPeers.map((peer) => ask(peer, address, signal)),
    ...others.map((other) => askBriefly(other, address, signal)),
  ];
  const [told, more] = await Promise.all([Promise.all(asked), Promise.all(further)]);
  const answers = new Map(told);
  const found = [...answers.values(), ...more].filter((pointer) => pointer !== undefined);
  const all = states.withPointers(found);
  return { states: all, pointer: all.newest, found, answers };
}

/**
 * Finds out whether the content at an address is a chunk or a pointer.
 * @throws AntwayError `NOT_FOUND` if no peer has it, `CORRUPT` if a peer sends another chunk; as `askAll`.
 */
export async function findTarget(
  target: Address,
  peers: readonly PointerPeer[],
  signal: AbortSignal,
): Promise<PointerTarget> {
  for (const peer of peers) if (await hasChunk(peer, target, signal)) return { kind: 'chunk', target };
  for (const peer of peers) {
    const { pointer } = await askAll(target, { peers: [peer], states: OwnerStates.empty(target), signal });
    if (pointer) return { kind: 'pointer', target };
  }
  const { hex } = target;
  throw new AntwayError('NOT_FOUND', `No peer has ${hex}. Publish the content first.`, { address: hex });
}

async function hasChunk(peer: PointerPeer, address: Address, signal: AbortSignal): Promise<boolean> {
  try {
    VerifiedChunk.verify(address, await peer.fetch(address, signal), await loadBlake3());
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (asAntwayError(error).code === 'NOT_FOUND') return false;
    throw error;
  }
}

/** @returns undefined also if the place does not answer in time. */
async function askBriefly(
  other: StateSource,
  address: Address,
  signal: AbortSignal,
): Promise<Pointer | undefined> {
  try {
    return await ask(other, address, AbortSignal.any([signal, AbortSignal.timeout(othersMs)]));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function ask(peer: StateSource, address: Address, signal: AbortSignal): Promise<Pointer | undefined> {
  try {
    return parsePointer(await peer.pointer(address, limits.pointerBytes, signal), address);
  } catch (error) {
    if (isAbort(error, signal)) throw error;
    const { code, message, details } = asAntwayError(error);
    // A peer that sends a record of a stranger has no state of this owner. It gets the right one.
    if (code === 'NOT_FOUND' || code === 'CORRUPT') return undefined;
    const why = `${peer.url} did not tell the state of the pointer, which could be newer: ${message}`;
    const asked = { ...details, address: address.hex, peer: peer.url };
    throw new AntwayError(code === 'UNSUPPORTED' ? code : 'PEERS_UNREACHABLE', why, asked, {
      cause: error,
    });
  }
}

/** @param before the known states, with the pointer if it is sent again. */
async function saveAndSend(pointer: Pointer, before: OwnerStates, options: MoveOptions): Promise<Moved> {
  const { address } = before;
  const learn = (found: readonly Pointer[]) => options.save(before.withPointers(found));
  for (const peer of options.peers) {
    await peer.prepare?.(address, pointer.record, options.signal, { states: before, learn });
  }
  const states = before.withPointers([pointer]);
  const sendingTo = options.peers.map(({ url }) => url);
  await options.save(states, sendingTo);
  return { pointer, states, ...(await storePointer(address, pointer.record, options)) };
}

/**
 * Stores a signed record at every peer. The record can be sent again after an error.
 * @throws AntwayError `REFUSED` if a peer has a newer state; as `HttpWriter.putPointer`. The details name the first
 *   peer that did not take the record, and all such peers as `refusedBy`.
 */
export async function storePointer(
  address: Address,
  record: Uint8Array<ArrayBuffer>,
  { peers, token, signal }: { peers: readonly PointerWriter[] } & Pick<MoveOptions, 'token' | 'signal'>,
): Promise<Pick<Moved, 'stored' | 'present'>> {
  const sent = await Promise.allSettled(
    peers.map((peer) => peer.putPointer(address, record, { token, signal })),
  );
  const urls: Pick<Moved, 'stored' | 'present'> = { stored: [], present: [] };
  const refusedBy: string[] = [];
  const problems: AntwayError[] = [];
  for (const [i, outcome] of sent.entries()) {
    const { url } = peers[i]!;
    if (outcome.status === 'fulfilled' && outcome.value !== 'outdated') {
      urls[outcome.value].push(url);
      continue;
    }
    refusedBy.push(url);
    const details = { address: address.hex, peer: url, refusedBy };
    problems.push(
      outcome.status === 'rejected' ? asProblem(outcome.reason, details) : outdatedAt(url, details),
    );
  }
  if (problems[0]) throw problems[0];
  return urls;
}

function asProblem(reason: unknown, added: ErrorDetails): AntwayError {
  const { code, message, details } = asAntwayError(reason);
  return new AntwayError(code, message, { ...details, ...added }, { cause: reason });
}

function outdatedAt(url: string, details: ErrorDetails): AntwayError {
  const message = `${url} has a newer state of the pointer, which another device signed. Try again.`;
  return new AntwayError('REFUSED', message, details);
}
