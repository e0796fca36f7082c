import { Address } from '../address.ts';

/** A host name of subdomain mode: `<52 characters of base32>.<root host>`. */
export interface SiteHost {
  address: Address;
  /** Host of the gateway itself, with its port. */
  rootHost: string;
}

/** @returns undefined for every other host name: the gateway's own, an IP address. */
export function siteOfHost(host: string): SiteHost | undefined {
  const dot = host.indexOf('.');
  if (dot !== 52) return undefined;
  try {
    return { address: Address.fromBase32(host.slice(0, dot)), rootHost: host.slice(dot + 1) };
  } catch {
    return undefined; // just a long name
  }
}
