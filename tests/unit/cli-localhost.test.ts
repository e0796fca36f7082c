import dns from 'node:dns';
import { afterEach, expect, it, vi } from 'vitest';
import { resolvableName, resolveLocalhostNames } from '../../src/cli/localhost.ts';
import { LoopbackServer } from '../support/loopback-server.ts';

const lookup = dns.lookup;
afterEach(() => {
  dns.lookup = lookup;
});

it.each([
  ['antway.localhost', 'localhost'],
  ['a.b.LOCALHOST', 'localhost'],
  ['a.localhost.', 'localhost'],
  ['localhost', 'localhost'],
  ['localhost.example', 'localhost.example'],
  ['notlocalhost', 'notlocalhost'],
  ['127.0.0.1', '127.0.0.1'],
])('asks the resolver for %s as %s', (name, resolvable) => {
  expect(resolvableName(name)).toBe(resolvable);
});

it('connects to a name below localhost with fetch, where the resolver knows no such name, and says the name', async () => {
  const asked: string[] = [];
  // As a resolver of glibc without nss-myhostname.
  const strict = (name: string, ...rest: unknown[]) => {
    asked.push(name);
    const known = name.endsWith('.localhost') ? 'no-such-name.invalid' : name;
    return (lookup as (name: string, ...rest: unknown[]) => void)(known, ...rest);
  };
  dns.lookup = vi.fn(strict) as unknown as typeof dns.lookup;
  await using server = await LoopbackServer.start((request, response) => response.end(request.headers.host));
  const host = `site.antway.localhost:${server.port}`;
  await expect(fetch(`http://${host}/`)).rejects.toThrow();
  resolveLocalhostNames();
  expect(await (await fetch(`http://${host}/`)).text()).toBe(host);
  expect(asked.filter((name) => name !== '127.0.0.1')).toEqual(['site.antway.localhost', 'localhost']);
});
