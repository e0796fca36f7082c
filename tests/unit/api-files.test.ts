import { expect, it, vi } from 'vitest';
import type { ApiContext } from '../../src/gateway/api/endpoint.ts';
import { files } from '../../src/gateway/api/files.ts';

const url = new URL(`https://gateway.example/-/files?address=${'aa'.repeat(32)}`);
const request = new Request(url);

function contextOf(count: { stored: number; total: number | null }) {
  const storedChunks = vi.fn(async () => count);
  const local = { resolve: vi.fn(async () => ({ kind: 'file' })) };
  const resolver = { resolve: vi.fn() };
  const context = { library: { storedChunks }, local, resolver } as unknown as ApiContext;
  return { storedChunks, local, resolver, context };
}

it('the files of a stored site are counted once for many documents, and no peer is asked', async () => {
  vi.useFakeTimers();
  try {
    const { storedChunks, local, resolver, context } = contextOf({ stored: 3, total: 3 });
    for (let i = 0; i < 10; i++) expect(await files.GET!(url, request, context)).toEqual({ files: [''] });
    expect(storedChunks).toHaveBeenCalledTimes(1);
    expect(local.resolve).toHaveBeenCalledTimes(10);
    expect(resolver.resolve).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    await files.GET!(url, request, context);
    expect(storedChunks).toHaveBeenCalledTimes(2);
  } finally {
    vi.useRealTimers();
  }
});

it('a site that is not stored is counted each time', async () => {
  const { storedChunks, context } = contextOf({ stored: 2, total: 3 });
  for (let i = 0; i < 2; i++) {
    await expect(files.GET!(url, request, context)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
  expect(storedChunks).toHaveBeenCalledTimes(2);
});
