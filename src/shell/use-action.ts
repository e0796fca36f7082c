import { useState } from 'preact/hooks';
import { asGatewayApiError, type GatewayApiError } from './gateway-api.ts';

/** Something that a user asks of the gateway, and how it went. */
export interface Action {
  /** Why the last one failed. */
  error: GatewayApiError | null;
  /** What the last one did, for people who cannot see it. */
  announcement: string;
  /** Says something else in its place. */
  say(announcement: string): void;
  /** @param announcement what to say once it is done: a text, or a function where the work decides it. */
  run(work: () => Promise<void>, announcement: string | (() => string)): Promise<void>;
}

/** @param after refreshes what the action may have changed, also when it failed. */
export function useAction(after: () => void): Action {
  const [error, setError] = useState<GatewayApiError | null>(null);
  const [announcement, setAnnouncement] = useState('');

  async function run(work: () => Promise<void>, done: string | (() => string)) {
    try {
      await work();
      setError(null);
      setAnnouncement(typeof done === 'string' ? done : done());
    } catch (caught) {
      setError(asGatewayApiError(caught));
    }
    after();
  }

  return { error, announcement, say: setAnnouncement, run };
}
