import dns from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { resolvableName, resolveLocalhostNames } from '../../src/cli/localhost.ts';

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
  const server = createServer((request, response) => response.end(request.headers.host));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `site.antway.localhost:${(server.address() as AddressInfo).port}`;
  try {
    await expect(fetch(`http://${host}/`)).rejects.toThrow();
    resolveLocalhostNames();
    expect(await (await fetch(`http://${host}/`)).text()).toBe(host);
    expect(asked.filter((name) => name !== '127.0.0.1')).toEqual(['site.antway.localhost', 'localhost']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
