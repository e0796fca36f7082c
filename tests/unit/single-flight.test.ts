import { describe, expect, it } from 'vitest';
import { SingleFlight } from '../../src/util/single-flight.ts';

/** Work that a test ends when it likes, and that counts its runs. */
function controlledWork() {
  const runs: { signal: AbortSignal; resolve(value: string): void; reject(error: unknown): void }[] = [];
  const work = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => void runs.push({ signal, resolve, reject }));
  return { runs, work };
}

const gone = (text = 'gone') => new Error(text);

describe('a single flight', () => {
  it('runs the work once for all callers while it is under way', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    let joined = 0;
    const callers = [1, 2, 3].map(() => flights.run('key', undefined, work, () => joined++));
    expect(runs).toHaveLength(1);
    expect(joined).toBe(2);
    runs[0]!.resolve('done');
    expect(await Promise.all(callers)).toEqual(['done', 'done', 'done']);
  });

  it('runs the work for each key', () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    void flights.run('a', undefined, work);
    void flights.run('b', undefined, work);
    expect(runs).toHaveLength(2);
  });

  it('remembers neither a result nor a failure', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const failing = flights.run('key', undefined, work);
    runs[0]!.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    const succeeding = flights.run('key', undefined, work);
    runs[1]!.resolve('yes');
    expect(await succeeding).toBe('yes');
    void flights.run('key', undefined, work);
    expect(runs).toHaveLength(3);
  });

  it('aborts what still runs of the work after a failure, and nothing after a success', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const failing = flights.run('key', undefined, work);
    runs[0]!.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    expect(runs[0]!.signal.reason).toMatchObject({ message: 'no' });
    const succeeding = flights.run('key', undefined, work);
    runs[1]!.resolve('yes');
    await succeeding;
    expect(runs[1]!.signal.aborted).toBe(false);
  });

  it('gives its failure to all callers', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const { signal } = new AbortController();
    const callers = [flights.run('key', undefined, work), flights.run('key', signal, work)];
    runs[0]!.reject(new Error('no'));
    expect(await Promise.allSettled(callers)).toMatchObject([
      { status: 'rejected', reason: { message: 'no' } },
      { status: 'rejected', reason: { message: 'no' } },
    ]);
  });

  it('rejects one caller at once with its own reason, and continues for the others', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaving = flights.run('key', first.signal, work);
    const staying = flights.run('key', second.signal, work);
    first.abort(gone());
    await expect(leaving).rejects.toThrow('gone');
    expect(runs[0]!.signal.aborted).toBe(false);
    runs[0]!.resolve('done');
    expect(await staying).toBe('done');
  });

  it('aborts the work when the last caller has aborted', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const controllers = [new AbortController(), new AbortController()];
    const callers = controllers.map(({ signal }) => flights.run('key', signal, work));
    const outcomes = Promise.allSettled(callers);
    controllers[0]!.abort(gone('first'));
    controllers[1]!.abort(gone('second'));
    expect(runs[0]!.signal.aborted).toBe(true);
    expect(runs[0]!.signal.reason).toMatchObject({ message: 'second' });
    expect(await outcomes).toMatchObject([
      { reason: { message: 'first' } },
      { reason: { message: 'second' } },
    ]);
    runs[0]!.reject(new Error('late: unhandled, it would fail this file'));
  });

  it('never aborts work if a caller has no signal', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const controller = new AbortController();
    const leaving = flights.run('key', controller.signal, work);
    const staying = flights.run('key', undefined, work);
    controller.abort(gone());
    await expect(leaving).rejects.toThrow('gone');
    expect(runs[0]!.signal.aborted).toBe(false);
    runs[0]!.resolve('done');
    expect(await staying).toBe('done');
  });

  it('starts again for a caller that comes after the work was aborted, even before it has ended', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const controller = new AbortController();
    const leaving = flights.run('key', controller.signal, work);
    controller.abort(gone());
    const coming = flights.run('key', undefined, work);
    expect(runs).toHaveLength(2);
    await expect(leaving).rejects.toThrow('gone');
    // The end of the aborted run must not end the new one.
    runs[0]!.reject(new Error('aborted'));
    await new Promise((resolve) => setImmediate(resolve));
    const joining = flights.run('key', undefined, work);
    expect(runs).toHaveLength(2);
    runs[1]!.resolve('done');
    expect(await Promise.all([coming, joining])).toEqual(['done', 'done']);
  });

  it('does not start for a caller that has already aborted', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    await expect(flights.run('key', AbortSignal.abort(gone()), work)).rejects.toThrow('gone');
    expect(runs).toEqual([]);
  });

  it('is not disturbed by a signal that aborts after the end', async () => {
    const flights = new SingleFlight<string>();
    const { runs, work } = controlledWork();
    const controller = new AbortController();
    const caller = flights.run('key', controller.signal, work);
    runs[0]!.resolve('done');
    expect(await caller).toBe('done');
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(runs[0]!.signal.aborted).toBe(false);
  });
});
