import type { Clock } from '../nodes/clock.ts';

export interface GatherOptions {
  /** So many nodes are asked at the same time, and in all if none fails. */
  best: number;
  /** So many answers suffice. The other nodes get `graceMs` then. */
  enough: number;
  graceMs: number;
  /** Questions at the same time. */
  atOnce: number;
  /** A node that takes longer gives its place to the next one, but goes on. */
  placeMs: number;
  /** That time begins once the question is sent, or after this time. Default: 0. */
  sendMs?: number;
  /** Whether these failures show that further nodes need not be asked. Default: no. */
  isHopeless?: (failures: readonly unknown[]) => boolean;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Asks nodes in their order. A node that fails or is slow gives its place to the next one.
 * @param ask gets a signal that also aborts when the answer is not needed any more, and a function to call once it has sent
 *   the question.
 * @returns the answers, at most `best` in the order of the nodes, and the errors of those that failed.
 * @throws the signal's reason when aborted.
 */
export async function gather<Node, T>(
  nodes: readonly Node[],
  {
    best,
    enough,
    graceMs,
    atOnce,
    placeMs,
    sendMs = 0,
    isHopeless = () => false,
    clock,
    signal,
  }: GatherOptions,
  ask: (node: Node, signal: AbortSignal, onSent: () => void) => Promise<T>,
): Promise<{ answers: T[]; failures: unknown[] }> {
  const done = new AbortController();
  const own = AbortSignal.any([signal, done.signal]);
  const answers = new Map<number, T>();
  const failures: unknown[] = [];
  let [next, running, places] = [0, 0, 0];
  await new Promise<void>((resolve) => {
    own.addEventListener('abort', () => resolve(), { once: true });
    const fill = () => {
      const mayAsk = () => next < nodes.length && places < atOnce && places + answers.size < best;
      while (mayAsk() && !isHopeless(failures)) void start(next++);
      const isOver = answers.size >= best || (running === 0 && next === nodes.length);
      if (isOver || isHopeless(failures)) resolve();
      else if (answers.size >= enough && next >= Math.min(best, nodes.length))
        clock.delay(graceMs, own).then(resolve, () => undefined);
    };
    const start = async (i: number) => {
      let hasPlace = true;
      const leave = () => {
        if (hasPlace) places--;
        hasPlace = false;
      };
      const answered = new AbortController();
      running++;
      places++;
      const sent = new AbortController();
      const isOver = AbortSignal.any([own, answered.signal]);
      const late = async () => {
        // It rejects when the question is sent.
        await clock.delay(sendMs, AbortSignal.any([isOver, sent.signal])).catch(() => undefined);
        await clock.delay(placeMs, isOver);
        leave();
        fill();
      };
      late().catch(() => undefined);
      try {
        answers.set(i, await ask(nodes[i]!, own, () => sent.abort()));
      } catch (error) {
        failures.push(error);
      }
      answered.abort();
      running--;
      leave();
      if (!own.aborted) fill();
    };
    if (own.aborted) resolve();
    else fill();
  });
  done.abort();
  signal.throwIfAborted();
  const ordered = [...answers].sort(([a], [b]) => a - b).slice(0, best);
  return { answers: ordered.map(([, answer]) => answer), failures: [...failures] };
}
