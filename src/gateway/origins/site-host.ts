import { Address } from '../../address.ts';

/** A host name of a site: `<52 characters of base32>.<root host>`. */
export interface SiteHost {
  address: Address;
  /** Host of the gateway itself, with its port. */
  rootHost: string;
}

/**
 * @returns undefined for every other host name: the gateway's own, an IP address, and a site's name below another site's,
 *   which would make that site a gateway.
 */
export function siteOfHost(host: string): SiteHost | undefined {
  const dot = host.indexOf('.');
  if (dot !== 52) return undefined;
  const rootHost = host.slice(dot + 1);
  try {
    const address = Address.fromBase32(host.slice(0, dot));
    return siteOfHost(rootHost) ? undefined : { address, rootHost };
  } catch {
    return undefined; // just a long name
  }
}

/**
 * The origin of a site below the gateway's own.
 * @returns undefined where the gateway has no name that another could stand below, or none that policies can name: it was
 *   opened by an IP address, or by a name that ends with a dot.
 */
export function siteOrigin({ base32 }: Pick<Address, 'base32'>, gatewayOrigin: string): string | undefined {
  const { protocol, host, hostname } = new URL(gatewayOrigin);
  if (!/^[a-z\d-]+(\.[a-z\d-]+)*$/.test(hostname) || /\.\d+$/.test(hostname)) return undefined;
  return `${protocol}//${base32}.${host}`;
}
