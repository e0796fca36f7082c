import type { Provider } from './vault.ts';

const timeoutMs = 30_000;
let nextId = 1;

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
        referrerPolicy: 'no-referrer',
      });
      if (!response.ok) throw new Error(`it answered ${response.status}`);
      const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
      if (error) throw new Error(error.message);
      return result;
    },
  };
}
