import dns from 'node:dns';

/**
 * `localhost` for every name below it, and any other name as it is: all of them are this machine (RFC 6761). Browsers
 * know that; many system resolvers, which Node asks, know `localhost` only.
 */
export function resolvableName(name: string): string {
  return /\.localhost\.?$/i.test(name) ? 'localhost' : name;
}

/**
 * Makes this process connect to such names, also with `fetch`, which has no option for that. Requests and TLS still
 * carry the name as it is written.
 */
export function resolveLocalhostNames(): void {
  const lookup = dns.lookup as (name: string, ...rest: unknown[]) => void;
  const resolve = (name: string, ...rest: unknown[]) => lookup(resolvableName(name), ...rest);
  dns.lookup = Object.assign(resolve, dns.lookup) as typeof dns.lookup;
}
