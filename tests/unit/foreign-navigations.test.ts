import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ForeignNavigations } from '../../src/gateway/foreign-navigations.ts';
import type { RequestContext } from '../../src/gateway/request-context.ts';

const origin = 'http://gateway.example';
const outside = 'http://website.example/';

let navigations: ForeignNavigations;
/** The windows that opened. */
let open: Set<string>;
let created = 0;

beforeEach(() => {
  vi.useFakeTimers();
  navigations = new ForeignNavigations();
  open = new Set();
});

afterEach(() => void vi.useRealTimers());

function navigationTo(path: string, referrer = outside): Request {
  return Object.defineProperties(new Request(origin + path), {
    mode: { value: 'navigate' },
    destination: { value: 'document' },
    referrer: { value: referrer },
  });
}

function contextOf(id: string): RequestContext {
  return {
    waitUntil: (work) => void work,
    client: async () => undefined,
    clientIds: { asking: '', created: id },
    isOpen: async (id) => open.has(id),
    requestSync: () => undefined,
  };
}

/** @param isStopped whether the website ends the navigation before its window opens. */
async function navigate(path: string, isStopped: boolean, referrer?: string) {
  const id = `window ${++created}`;
  const answer = await navigations.isTooMany(navigationTo(path, referrer), contextOf(id));
  if (!isStopped) open.add(id);
  await vi.advanceTimersByTimeAsync(1_000);
  return answer;
}

describe('navigations of other websites', () => {
  it('get an opening page after two that opened no window', async () => {
    expect(await navigate('/a', true)).toBe(false);
    expect(await navigate('/b', true)).toBe(false);
    expect(await navigate('/c', true)).toBe(true);
    expect(await navigate('/d', true, '')).toBe(true);
  });

  it('get content as long as their windows open', async () => {
    for (const path of ['/a', '/b', '/c', '/d']) expect(await navigate(path, false)).toBe(false);
  });

  it('get content again ten minutes later', async () => {
    for (const path of ['/a', '/b']) await navigate(path, true);
    expect(await navigate('/c', true)).toBe(true);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(await navigate('/c', true)).toBe(false);
  });

  it('do not count if a page of the same origin starts them', async () => {
    for (const path of ['/a', '/b', '/c']) expect(await navigate(path, true, `${origin}/`)).toBe(false);
    expect(await navigate('/d', true)).toBe(false);
  });

  it('do not count where the browser does not tell which window they open', async () => {
    const context = { ...contextOf(''), isOpen: async () => false };
    for (const path of ['/a', '/b', '/c'])
      expect(await navigations.isTooMany(navigationTo(path), context)).toBe(false);
  });
});

describe('the navigation of an opening page without a referrer', () => {
  const needsPage = (path: string, id: string) =>
    navigations.needsPage(navigationTo(path, ''), contextOf(id));

  it('gets the content, once', async () => {
    expect(await needsPage('/a#part', 'opening')).toBe(true);
    open.add('opening');
    expect(await needsPage('/a', 'content')).toBe(false);
    expect(await needsPage('/a', 'another')).toBe(true);
  });

  it('is no other one, of another URL or after the page was stopped', async () => {
    expect(await needsPage('/a', 'opening')).toBe(true);
    expect(await needsPage('/a', 'again')).toBe(true);
    open.add('again');
    expect(await needsPage('/b', 'other')).toBe(true);
    expect(await needsPage('/a', 'content')).toBe(false);
  });
});
