import { isLoopback } from '../peer-url.ts';

/** @returns undefined unless the connection is encrypted, or does not leave this machine. */
export function secureUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url)) ? url : undefined;
}
