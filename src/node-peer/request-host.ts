import { isIPv6 } from 'node:net';

/** No name of a host is longer. A longer header would make each answer long. */
const maxHostCharacters = 255;
/** Length of 32 bytes in base 32, without padding. */
const siteLabel = /^[a-z2-7]{52}$/i;

/** The host of a request, in the form that a Content-Security-Policy needs. */
export type RequestHost =
  /** The gateway's own origin: name and port. */
  | { kind: 'root'; own: string }
  /** The origin of a site, and the gateway's own origin. */
  | { kind: 'site'; own: string; root: string }
  /** `127.0.0.1`, which has no subdomains. */
  | { kind: 'loopback'; own: string }
  /** `[::1]`, which a policy cannot name. `port` starts with a colon, or is empty. */
  | { kind: 'loopback6'; port: string }
  /** A host that a policy cannot name. */
  | { kind: 'unnamed' };

/** Parses the header `Host`. A policy may contain the result, so only plain names and loopback addresses pass. */
export function parseHost(header: string | undefined): RequestHost {
  const text = (header ?? '').toLowerCase();
  if (text.length > maxHostCharacters) return { kind: 'unnamed' };
  const [, name = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(:\d{1,5})?$/.exec(text) ?? [];
  if (name.startsWith('[')) {
    const isLoopback = isIPv6(name.slice(1, -1)) && new URL(`http://${name}`).hostname === '[::1]';
    return isLoopback ? { kind: 'loopback6', port } : { kind: 'unnamed' };
  }
  if (name === '127.0.0.1') return { kind: 'loopback', own: text };
  // A name that ends with a digit is an IP address in some notation. Policies match no IP address except 127.0.0.1.
  const isName = /^[a-z\d-]+(\.[a-z\d-]+)*$/.test(name) && !/\d$/.test(name);
  if (!isName) return { kind: 'unnamed' };
  if (!isSiteName(name)) return { kind: 'root', own: text };
  return { kind: 'site', own: text, root: name.slice(name.indexOf('.') + 1) + port };
}

/** Whether a gateway could use this name for the origin of a site: the first label is an address in base 32. */
export function isSiteName(name: string): boolean {
  const dot = name.indexOf('.');
  return dot > 0 && siteLabel.test(name.slice(0, dot));
}

/** Whether browsers always resolve this name to the machine itself. @param name as of `withoutPort`. */
export function isLoopbackName(name: string): boolean {
  return name === '127.0.0.1' || name === '[::1]' || /^(.+\.)?localhost$/i.test(name);
}

/** The name in `name:port`, `name`, `[v6]:port` or `[v6]`, with its brackets. Nothing for any other text. */
export function withoutPort(host: string): string {
  return /^(\[[^\]]*\]|[^:[\]]*)(?::\d*)?$/.exec(host)?.[1] ?? '';
}
