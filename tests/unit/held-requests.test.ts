// @module-tag isolated
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { holdRequests, request } from '../../src/shell/gateway-api.ts';

const fetched: string[] = [];

beforeEach(() => {
  fetched.length = 0;
  vi.stubGlobal('navigator', { language: 'en', serviceWorker: { controller: {} } });
  vi.stubGlobal('fetch', async (path: string) => {
    fetched.push(path);
    return new Response();
  });
});
afterEach(() => vi.unstubAllGlobals());

it('questions wait while another worker takes over, and changes do not', async () => {
  let takeOver = () => {};
  holdRequests(
    new Promise<void>((resolve) => {
      takeOver = resolve;
    }),
  );
  const asked = request('/-/pins', {});
  await request('/-/settings', { method: 'PUT' });
  expect(fetched).toEqual(['/-/settings']);
  takeOver();
  await asked;
  await request('/-/stats', { method: 'GET' });
  expect(fetched).toEqual(['/-/settings', '/-/pins', '/-/stats']);
});
