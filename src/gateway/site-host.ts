import { Address } from '../address.ts';

/** A host name of a site: `<52 characters of base32>.<root host>`. */
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

/**
 * The origin of a site below the gateway's own.
 * @returns undefined where the gateway has no name that another could stand below: it was opened by an IP address.
 */
export function siteOrigin({ base32 }: Pick<Address, 'base32'>, gatewayOrigin: string): string | undefined {
  const { protocol, host, hostname } = new URL(gatewayOrigin);
  if (/^(\[.*\]|\d+(\.\d+){3})$/.test(hostname)) return undefined;
  return `${protocol}//${base32}.${host}`;
}
