const formerHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * `http://antway.localhost` with the same port, where each site of this gateway has its own origin.
 * @returns null if this page is not on a loopback address.
 */
export function antwayLocalhost({ protocol, hostname, port }: URL | Location): string | null {
  if (protocol !== 'http:' || !formerHosts.has(hostname)) return null;
  return `http://antway.localhost${port && `:${port}`}`;
}
