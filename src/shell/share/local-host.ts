/** Host names that no other computer can resolve, or that lead to the computer that asks. */
const localNames = /(^|\.)(localhost|local|internal|test|invalid|home\.arpa|lan|home)$/;

/** Loopback, private, link-local, shared and unspecified addresses of IPv4 (RFC 6890). */
const localV4 =
  /^(127|10|0)\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^169\.254\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;

/** Loopback, unspecified, unique local and link-local addresses of IPv6, and local IPv4 addresses within IPv6. */
const localV6 = /^\[(::1?\]|f[cd]|fe[89ab]|::ffff:(7f|a|a9fe|c0a8|ac1[0-9a-f])[0-9a-f]*:)/;

/**
 * Whether links of this host work on this computer or in this network only.
 * @param hostname as in `URL.hostname`, so in lower case and with a normalised IP address.
 */
export function isLocalHost(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (name.startsWith('[')) return localV6.test(name);
  if (/^\d+(\.\d+){3}$/.test(name)) return localV4.test(`${name}.`);
  // A name without a dot is known in the local network only.
  return !name.includes('.') || localNames.test(name);
}
