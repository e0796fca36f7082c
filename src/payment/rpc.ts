import * as v from 'valibot';
import * as s from '../schema.ts';
import { readJson } from './read-json.ts';
import type { Provider } from './vault.ts';

const timeoutMs = 30_000;
const maxAnswerBytes = 4 * 1024 * 1024;
let nextId = 1;

const answerSchema = s.object({
  result: v.optional(v.unknown()),
  error: v.nullish(s.object({ message: v.string() })),
});

/** A provider that asks an RPC endpoint (JSON-RPC over HTTP). @param url `https:`, or `http:` on loopback. */
export function rpcProvider(url: string): Provider {
  return {
    async request({ method, params = [] }) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: nextId++, method, params }),
        signal: AbortSignal.timeout(timeoutMs),
        credentials: 'omit',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
      });
      if (!response.ok) {
        await response.body?.cancel();
        throw new Error(`it answered ${response.status}`);
      }
      const answer = s.parse(answerSchema, await readJson(response, maxAnswerBytes), 'CORRUPT', 'its answer');
      if (answer.error) throw new Error(answer.error.message);
      if (answer.result === undefined) throw new Error('it sent no result');
      return answer.result;
    },
  };
}
