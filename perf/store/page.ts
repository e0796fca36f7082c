/** Gives the measuring worker to the page that `main.ts` drives. */

import type { Ask, Measurement } from './worker.ts';

export interface MeasuringPage {
  /** Has a new worker measure, which has nothing in memory. */
  measure(ask: Ask): Promise<Measurement>;
}

const measuringPage: MeasuringPage = {
  measure(ask) {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    return new Promise<Measurement>((resolve, reject) => {
      worker.onmessage = ({ data }) =>
        'problem' in data ? reject(new Error(data.problem)) : resolve(data.measurement);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(ask);
    }).finally(() => worker.terminate());
  },
};

Object.assign(globalThis, { measuringPage });
