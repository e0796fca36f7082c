import { useState } from 'preact/hooks';
import { asGatewayApiError, type GatewayApiError } from './gateway-api.ts';

interface Action {
  error: GatewayApiError | null;
  /** The result of the last action, for screen readers. */
  announcement: string;
  say(announcement: string): void;
  /** Removes the error and the announcement of the last action. */
  clear(): void;
  /** @returns whether it succeeded. @param announcement the text after success, or a function if the work determines the text. */
  run(work: () => Promise<void>, announcement: string | (() => string)): Promise<boolean>;
}

/** @param after refreshes the data that the action may have changed. It also runs after a failure. */
export function useAction(after: () => void): Action {
  const [error, setError] = useState<GatewayApiError | null>(null);
  const [announcement, setAnnouncement] = useState('');

  async function run(work: () => Promise<void>, done: string | (() => string)) {
    let isDone = false;
    try {
      await work();
      isDone = true;
      setError(null);
      setAnnouncement(typeof done === 'string' ? done : done());
    } catch (caught) {
      setError(asGatewayApiError(caught));
    }
    after();
    return isDone;
  }

  function clear() {
    setError(null);
    setAnnouncement('');
  }

  return { error, announcement, say: setAnnouncement, clear, run };
}
