import dns from 'node:dns';

/**
 * Returns `localhost` for every name below `localhost`, and any other name unchanged. All these names are this machine
 * (RFC 6761). Browsers know this rule, but Node asks the system resolver, and many resolvers know only `localhost`.
 */
export function resolvableName(name: string): string {
  return /\.localhost\.?$/i.test(name) ? 'localhost' : name;
}

/**
 * Makes this process connect to names below `localhost`. Replaces `dns.lookup`, because `fetch` has no option for it.
 * Requests and TLS still use the original name.
 */
export function resolveLocalhostNames(): void {
  const lookup = dns.lookup as (name: string, ...rest: unknown[]) => void;
  const resolve = (name: string, ...rest: unknown[]) => lookup(resolvableName(name), ...rest);
  dns.lookup = Object.assign(resolve, dns.lookup) as typeof dns.lookup;
}
