import { Address } from '../../address.ts';

/** The host name of a site: `<52 characters of base32>.<root host>`. */
export interface SiteHost {
  address: Address;
  /** The host of the gateway itself, with its port. */
  rootHost: string;
}

/**
 * @returns undefined for all other host names: the gateway's own name, an IP address, and a site's name below another
 *   site's name, which would make the other site a gateway.
 */
export function siteOfHost(host: string): SiteHost | undefined {
  const dot = host.indexOf('.');
  if (dot !== 52) return undefined;
  const rootHost = host.slice(dot + 1);
  try {
    const address = Address.fromBase32(host.slice(0, dot));
    return siteOfHost(rootHost) ? undefined : { address, rootHost };
  } catch {
    return undefined; // a long name, but not an address
  }
}

/** @returns undefined if the gateway's host is an IP address, or ends with a dot (policies cannot name it). */
export function siteOrigin({ base32 }: Pick<Address, 'base32'>, gatewayOrigin: string): string | undefined {
  const { protocol, host, hostname } = new URL(gatewayOrigin);
  if (!/^[a-z\d-]+(\.[a-z\d-]+)*$/.test(hostname) || /\.\d+$/.test(hostname)) return undefined;
  return `${protocol}//${base32}.${host}`;
}
