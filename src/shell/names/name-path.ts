import { siteOfHost } from '../../gateway/origins/site-host.ts';

/** Whether a URL of the gateway's own origin begins with a name of the user or of a list: `/~<name>/…`. */
export function isNamePath({ host, pathname }: Pick<Location, 'host' | 'pathname'>): boolean {
  return /^\/(~|%7e)/i.test(pathname) && siteOfHost(host) === undefined;
}

/** The URL of the start page that opens what the name stands for. */
export function hrefOfName({
  pathname,
  search,
  hash,
}: Pick<Location, 'pathname' | 'search' | 'hash'>): string {
  return `/#open=${encodeURIComponent(`ant:/${pathname}${search}${hash}`)}`;
}
