import { describe, expect, it } from 'vitest';
import { RouteMap } from '../../src/content/route-map.ts';

const routes = (routeMap: Record<string, string>) => RouteMap.parse(JSON.stringify({ routeMap }))!;

describe('the routes of an archive', () => {
  it('lead from a pattern to a document, and leave other paths alone', () => {
    const map = routes({ '': 'index.html', 'blog/*': 'blog.html' });
    expect(map.resolve('')).toBe('index.html');
    expect(map.resolve('blog/2024/one')).toBe('blog.html');
    expect(map.resolve('blog')).toBeUndefined();
    expect(map.resolve('style.css')).toBeUndefined();
  });

  it('prefer the pattern that is spelt like the path, then the one with most literal characters', () => {
    const map = routes({ '*': 'all', 'blog/*': 'blog', 'blog/*/edit': 'edit', 'blog/[x]': 'spelt' });
    expect(map.resolve('blog/[x]')).toBe('spelt');
    expect(map.resolve('blog/1/edit')).toBe('edit');
    expect(map.resolve('blog/1')).toBe('blog');
    expect(map.resolve('other')).toBe('all');
  });

  it('do not depend on the order in which the file lists them', () => {
    const one = routes({ 'a*': '1', '*a': '2' });
    const other = routes({ '*a': '2', 'a*': '1' });
    expect(one.resolve('a')).toBe(other.resolve('a'));
  });

  it('lead to the same document whether or not their target begins with a slash', () => {
    expect(routes({ '*': '//index.html' }).resolve('x')).toBe('index.html');
  });

  it('may hold a pattern that is no glob, which then matches only itself', () => {
    const map = routes({ '[a': 'odd', '{': 'brace' });
    expect(map.resolve('[a')).toBe('odd');
    expect(map.resolve('{')).toBe('brace');
    expect(map.resolve('a')).toBeUndefined();
  });

  it('may hold names that every JavaScript object has', () => {
    const map = RouteMap.parse('{"routeMap": {"__proto__": "a.html", "constructor": "b.html"}}')!;
    expect(map.resolve('__proto__')).toBe('a.html');
    expect(map.resolve('constructor')).toBe('b.html');
    expect(map.resolve('toString')).toBeUndefined();
  });

  it.each(['{}', '{"routeMap": null}', '{"other": 1}', '[]', 'null', '7'])('are none in %s', (text) => {
    expect(RouteMap.parse(text)?.resolve('')).toBeUndefined();
    expect(RouteMap.parse(text)).toBeDefined();
  });

  it.each([
    '',
    'no JSON',
    '{"routeMap": []}',
    '{"routeMap": "index.html"}',
    '{"routeMap": {"a": 1}}',
    '{"routeMap": {"a": null}}',
    `{"routeMap": {"${'*a'.repeat(5_000)}": "x"}}`,
  ])('cannot be read from %j', (text) => {
    expect(RouteMap.parse(text)).toBeUndefined();
  });

  it('take bounded time on the longest patterns and paths that are allowed', () => {
    const map = RouteMap.parse(
      JSON.stringify({
        routeMap: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${'*a'.repeat(75)}${i}`, 'x'])),
      }),
    )!;
    const startedAt = performance.now();
    expect(map.resolve('a'.repeat(2_000))).toBeUndefined();
    expect(map.resolve('a'.repeat(1_000_000))).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
