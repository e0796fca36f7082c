import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { admit, allowedMethods } from '../../src/gateway/http/admit.ts';
import { caching, etagOf } from '../../src/gateway/http/caching.ts';
import { isNavigation, isTopLevelNavigation } from '../../src/gateway/http/navigation.ts';
import { redirect } from '../../src/gateway/http/redirect.ts';
import { asDataHeader, isOfProgressPage, isPageForScript } from '../../src/gateway/http/script-request.ts';
import type { ContentTarget } from '../../src/gateway/http/target.ts';
import { sharedPlan, viewAnswer } from '../../src/gateway/http/view-answer.ts';
import { inReader, isForReader, isViewRequest, viewHeader } from '../../src/gateway/http/view-plan.ts';

/** A request as a browser makes it. Scripts cannot set its mode and destination. */
const request = (
  { mode = 'cors', destination = '' }: { mode?: string; destination?: string },
  headers: Record<string, string> = {},
) => ({ mode, destination, headers: new Headers(headers) }) as Request;

const url = 'https://gateway.example/x';
const address = Address.fromHex('ab'.repeat(32));
const target = (path: string | undefined): ContentTarget => ({
  address,
  root: `/${address.hex}`,
  path,
  query: new URLSearchParams(),
  search: '',
});

describe('a request', () => {
  it.each(['GET', 'HEAD', 'OPTIONS'])('by %s is admitted', (method) => {
    expect(() => admit(new Request(url, { method }))).not.toThrow();
  });

  it.each(['POST', 'PUT', 'DELETE'])('by %s is refused, with the methods that are possible', (method) => {
    expect(() => admit(new Request(url, { method }))).toThrow(
      expect.objectContaining({ code: 'METHOD', details: { allow: 'GET, HEAD, OPTIONS' } }),
    );
  });

  it('for a service worker’s script is refused', () => {
    const admitting = (value: string) => () =>
      admit({ ...request({}, { 'Service-Worker': value }), method: 'GET' });
    expect(admitting('script')).toThrow(expect.objectContaining({ code: 'REFUSED' }));
    expect(admitting('other')).not.toThrow();
  });

  it('is told which methods are possible', () => {
    const response = allowedMethods();
    expect([response.status, response.headers.get('Allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });

  it.each([
    ['navigate', 'document', true, true],
    ['navigate', 'iframe', true, false],
    ['navigate', '', true, false],
    ['no-cors', 'document', true, false],
    ['same-origin', 'iframe', true, false],
    ['same-origin', 'frame', true, false],
    ['cors', '', false, false],
    ['no-cors', 'image', false, false],
  ])('of mode %s for “%s”: is it a navigation, and one of a window?', (mode, destination, any, top) => {
    const asked = request({ mode, destination });
    expect([isNavigation(asked), isTopLevelNavigation(asked)]).toEqual([any, top]);
  });
});

describe('a request of a script', () => {
  const html = 'text/html; charset=utf-8';
  const isPage = (from: Request, type = html) => isPageForScript(from, type);

  it('is one for a page if the answer could run scripts, or if it accepts HTML', () => {
    expect(isPage(request({}))).toBe(true);
    expect(isPage(request({}), 'text/plain')).toBe(false);
    expect(isPage(request({}, { Accept: 'text/html' }), 'text/plain')).toBe(true);
    expect(isPage(request({}, { Accept: 'application/xml, text/html;q=0.9' }), 'text/plain')).toBe(true);
    expect(isPage(request({}, { Accept: 'text/htmlx' }), 'text/plain')).toBe(false);
    expect(isPage(request({}, { Accept: 'xtext/html' }), 'text/plain')).toBe(false);
    expect(isPage(request({}, { 'HX-Request': 'true' }), 'text/plain')).toBe(true);
  });

  it('is none for a page if the browser shows the answer, or if the script takes it as data', () => {
    expect(isPage(request({ mode: 'navigate' }))).toBe(false);
    expect(isPage(request({ destination: 'image' }))).toBe(false);
    expect(isPage(request({ destination: 'iframe' }))).toBe(false);
    expect(isPage(request({}, { [asDataHeader]: '1' }))).toBe(false);
  });

  it('is one of the progress page by the value of a header', () => {
    expect(isOfProgressPage(request({}, { [asDataHeader]: 'progress' }))).toBe(true);
    expect(isOfProgressPage(request({}, { [asDataHeader]: '1' }))).toBe(false);
    expect(isOfProgressPage(request({}))).toBe(false);
  });

  it('is one for the plan of a view by a header, unless it navigates', () => {
    expect(isViewRequest(request({}, { [viewHeader]: '1' }))).toBe(true);
    expect(isViewRequest(request({ mode: 'navigate' }, { [viewHeader]: '1' }))).toBe(false);
    expect(isViewRequest(request({}))).toBe(false);
    expect(isForReader(request({}, { [viewHeader]: inReader }))).toBe(true);
    expect(isForReader(request({}, { [viewHeader]: '1' }))).toBe(false);
  });
});

describe('the plan of a view', () => {
  const planOf = (headers: Record<string, string>, hasScripts = false, decision?: 'trusted') =>
    sharedPlan(
      target(''),
      { source: memorySource(new Uint8Array()), etag: '""', headers },
      hasScripts,
      decision,
    );

  it('has the type of the content, whether the browser saves it, and the decision', () => {
    expect(planOf({ 'Content-Type': 'text/html' }, true, 'trusted')).toEqual({
      kind: 'shared-origin',
      address: address.hex,
      type: 'text/html',
      isSaved: false,
      hasScripts: true,
      decision: 'trusted',
    });
    expect(planOf({ 'Content-Type': 'application/zip' })).toMatchObject({ isSaved: true, decision: null });
    expect(planOf({})).toMatchObject({ type: '', isSaved: true, hasScripts: false });
  });

  it.each([
    ['attachment; filename="a.txt"', true],
    ['inline; filename="attachment"', false],
  ])('with the disposition %s', (disposition, isSaved) => {
    const headers = { 'Content-Type': 'text/plain', 'Content-Disposition': disposition };
    expect(planOf(headers)).toMatchObject({ isSaved });
  });

  it('is sent as JSON that is not stored', async () => {
    const plan = planOf({ 'Content-Type': 'text/plain' });
    const response = viewAnswer(plan);
    expect(await response.json()).toEqual(plan);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
  });
});

describe('the caching of an answer', () => {
  const located = (path: string | undefined, more = {}) => ({
    ...target(path),
    content: address,
    isMutable: false,
    ...more,
  });

  it('is for ever, a minute for a name, and never for a pointer', () => {
    expect(caching(located('a'))).toEqual({ 'Cache-Control': 'public, max-age=31536000, immutable' });
    expect(caching(located('a', { name: 'docs' }))).toEqual({ 'Cache-Control': 'public, max-age=60' });
    expect(caching(located('a', { name: 'docs', isMutable: true }))).toEqual({
      'Cache-Control': 'public, no-cache',
    });
  });

  it.each([
    ['', 'Accept'],
    ['folder/', 'Accept'],
    ['folder/a', undefined],
    [undefined, undefined],
  ])('at %j varies by %s', (path, vary) => {
    expect(caching(located(path)).Vary).toBe(vary);
  });

  it('has a tag for each content, format and path', () => {
    expect(etagOf(located(''), 'file')).toBe(`"${address.hex}.file"`);
    expect(etagOf(located(''), 'file', 'ä/b "c"')).toBe(`"${address.hex}.file:%C3%A4/b%20%22c%22"`);
  });
});

it('a redirect has its location beside its other headers', () => {
  const response = redirect('/there', 302, { 'Cache-Control': 'no-cache' });
  expect([response.status, response.body]).toEqual([302, null]);
  expect(Object.fromEntries(response.headers)).toEqual({ location: '/there', 'cache-control': 'no-cache' });
});
