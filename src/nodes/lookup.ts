import type { Clock } from './clock.ts';
import { compareDistance } from './distance.ts';
import { isSameNode, type NodeAddress, peerIdBytes } from './node-address.ts';
import { nodeLimits } from './node-limits.ts';

export interface LookupOptions {
  /** The nodes to begin with. */
  start: readonly NodeAddress[];
  clock: Clock;
  /** Whether a node may be asked at all. */
  isAllowed(node: NodeAddress): boolean;
  /**
   * Asks one node for the nodes that it knows.
   * @param isClose whether the node is one of the close group, as far as the lookup knows at this moment. `named` are
   *   nodes that it has just named and that count already. Without them, the answer is no while the lookup knows too
   *   little: it began with this node, and knows only a few others.
   * @throws if the node did not answer.
   */
  ask(
    node: NodeAddress,
    isClose: (named?: readonly NodeAddress[]) => boolean,
  ): Promise<readonly NodeAddress[]>;
  signal: AbortSignal;
  /** How many nodes to return. Default: the close group. */
  count?: number;
  /** So many of the closest nodes have to have answered, at most a bucket. Default: the close group. */
  width?: number;
  /** Once so many have answered, no other node is awaited longer than this. Default: no limit. */
  lateMs?: number;
}

interface Candidate {
  id: Uint8Array;
  /** The addresses at which others name it. The first one is tried first. */
  addresses: NodeAddress[];
  state: 'new' | 'asked' | 'answered' | 'failed';
  askedAt: number;
  /** The nodes that named it, in their order. Undefined if the lookup began with it. */
  sources: Set<Source> | undefined;
  isExtra: boolean;
}

/** How the names of one node turned out, and how many of them were asked. */
interface Source {
  failed: number;
  answered: number;
  asked: number;
}

/** A liar must not fill a candidate's list. */
const mostAddresses = 3;

/**
 * Finds the nodes closest to a target: asks the closest nodes it knows for closer ones, until the closest nodes of all
 * have answered. If a node is silent for a second, the lookup asks another one meanwhile, so dead nodes delay little.
 *
 * Nodes that work together can name only each other, so that a lookup does not find the nodes between them. Therefore the lookup
 * then asks some more nodes: those named by nodes whose names it has asked least. One honest node near the target is
 * enough to name the true close group.
 * @returns the closest nodes that answered, closest first: the close group, or `count` of them.
 * @throws the signal's reason when aborted.
 */
export async function lookup(target: Uint8Array, options: LookupOptions): Promise<NodeAddress[]> {
  return new Lookup(target, options).run();
}

class Lookup {
  readonly #target: Uint8Array;
  readonly #options: LookupOptions;
  readonly #candidates = new Map<string, Candidate>();
  #asked = 0;
  #extra = 0;
  #changed: () => void = () => undefined;

  constructor(target: Uint8Array, options: LookupOptions) {
    this.#target = target;
    this.#options = options;
    for (const node of options.start) this.#add(node, undefined);
  }

  async run(): Promise<NodeAddress[]> {
    const { signal, clock } = this.#options;
    signal.throwIfAborted();
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => undefined);
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
      this.#fill();
      const asked = this.#inState('asked');
      if (asked.length === 0 || (this.#isComplete() && this.#isThorough())) return this.#group();
      const now = clock.now();
      const waits = asked
        .flatMap(({ askedAt }) =>
          [nodeLimits.placeMs, nodeLimits.extraMs, this.#lateMs].map((ms) => askedAt + ms - now),
        )
        .filter((ms) => ms > 0 && ms < Number.POSITIVE_INFINITY);
      const timer = new AbortController();
      const nextPlace =
        waits.length > 0
          ? clock.delay(Math.min(...waits), timer.signal).catch(() => undefined)
          : new Promise<never>(() => undefined);
      await Promise.race([changed, nextPlace, aborted]);
      timer.abort();
    }
  }

  /** Asks as many nodes as there are places. */
  #fill(): void {
    const { clock } = this.#options;
    for (const candidate of this.#next()) {
      const asked = this.#inState('asked');
      const awaited = asked.filter((each) => !this.#isLate(each));
      const inTime = asked.filter(({ askedAt }) => clock.now() - askedAt < nodeLimits.placeMs);
      if (inTime.length >= nodeLimits.parallel || awaited.length >= nodeLimits.mostParallel) return;
      if (this.#asked >= nodeLimits.asked) return;
      void this.#ask(candidate);
    }
  }

  /** The nodes to ask, in order: those that can still become part of the close group, then some for a second opinion. */
  #next(): Candidate[] {
    if (!this.#isComplete()) return this.#open().filter(({ state }) => state === 'new');
    const rest = this.#sorted().filter(({ state }) => state === 'new');
    return rest.sort((a, b) => askedBefore(a) - askedBefore(b)).slice(0, nodeLimits.extra - this.#extra);
  }

  /** The candidates that are closer than the last of the wanted nodes, as far as these have answered. */
  #open(): Candidate[] {
    const { width = nodeLimits.closeGroup } = this.#options;
    const sorted = this.#sorted().slice(0, nodeLimits.bucket);
    const last = sorted.filter(({ state }) => state === 'answered')[width - 1];
    const open = (last ? sorted.slice(0, sorted.indexOf(last)) : sorted).filter(
      ({ state }) => state !== 'answered',
    );
    return last ? open.filter((candidate) => !this.#isLate(candidate)) : open;
  }

  get #lateMs(): number {
    return this.#options.lateMs ?? Number.POSITIVE_INFINITY;
  }

  #isLate({ state, askedAt }: Candidate): boolean {
    return state === 'asked' && this.#options.clock.now() - askedAt >= this.#lateMs;
  }

  /** Whether no node that is still open could be closer than the close group. */
  #isComplete(): boolean {
    return this.#open().length === 0;
  }

  /** Whether enough further nodes were asked. Their answers are not awaited for long. */
  #isThorough(): boolean {
    const now = this.#options.clock.now();
    const isAwaited = ({ isExtra, askedAt }: Candidate) => isExtra && now - askedAt < nodeLimits.extraMs;
    return !this.#inState('asked').some(isAwaited) && this.#next().length === 0;
  }

  async #ask(candidate: Candidate): Promise<void> {
    const { clock, ask } = this.#options;
    const [node] = candidate.addresses as [NodeAddress];
    // Before the state changes, because an open candidate makes the lookup incomplete.
    candidate.isExtra = this.#isComplete();
    candidate.state = 'asked';
    candidate.askedAt = clock.now();
    if (candidate.isExtra) this.#extra++;
    this.#asked++;
    for (const namer of candidate.sources ?? []) namer.asked++;
    const source: Source = { failed: 0, answered: 0, asked: 0 };
    const isClose = (named?: readonly NodeAddress[]) => {
      for (const other of named ?? []) this.#add(other, source);
      const isGuess = !named && !candidate.sources && this.#candidates.size < nodeLimits.bucket;
      return !isGuess && this.#closest(nodeLimits.closeGroup).includes(candidate);
    };
    try {
      isClose(await ask(node, isClose));
      candidate.state = 'answered';
      for (const namer of candidate.sources ?? []) namer.answered++;
    } catch {
      candidate.addresses.shift();
      candidate.state = candidate.addresses.length > 0 ? 'new' : 'failed';
      for (const namer of candidate.sources ?? []) namer.failed++;
    }
    this.#changed();
  }

  #add(node: NodeAddress, source: Source | undefined): void {
    if (!this.#options.isAllowed(node)) return;
    const known = this.#candidates.get(node.peerId);
    if (!known) {
      this.#candidates.set(node.peerId, {
        id: peerIdBytes(node),
        addresses: [node],
        state: 'new',
        askedAt: 0,
        sources: source && new Set([source]),
        isExtra: false,
      });
      return;
    }
    if (source) known.sources?.add(source);
    const isNew = !known.addresses.some((address) => isSameNode(address, node));
    if (known.state === 'new' && isNew && known.addresses.length < mostAddresses) known.addresses.push(node);
  }

  /** All candidates that may be part of the close group: the closest first. */
  #sorted(): Candidate[] {
    return [...this.#candidates.values()]
      .filter((candidate) => candidate.state !== 'failed' && !isDoubtful(candidate))
      .sort((a, b) => compareDistance(this.#target, a.id, b.id));
  }

  #closest(count: number): Candidate[] {
    return this.#sorted().slice(0, count);
  }

  #group(): NodeAddress[] {
    return this.#sorted()
      .filter(({ state }) => state === 'answered')
      .slice(0, this.#options.count ?? nodeLimits.closeGroup)
      .map(({ addresses: [address] }) => address!);
  }

  #inState(state: Candidate['state']): Candidate[] {
    return [...this.#candidates.values()].filter((candidate) => candidate.state === state);
  }
}

/** How many names were asked of the node that named this one first. */
function askedBefore({ sources }: Candidate): number {
  const [first] = sources ?? [];
  return first?.asked ?? 0;
}

/** Whether each node that named it named mostly false nodes: an attacker may fill the neighbourhood with invented nodes. */
function isDoubtful({ state, sources }: Candidate): boolean {
  if (state === 'answered' || !sources) return false;
  return [...sources].every(
    ({ failed, answered }) => failed >= nodeLimits.falseNames && failed > 4 * answered,
  );
}
