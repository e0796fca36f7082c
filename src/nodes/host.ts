/** The parts of a literal IPv4 address, or undefined. Only the form with four decimal numbers is one. */
function ipv4Parts(host: string): number[] | undefined {
  if (!/^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(host)) return undefined;
  const parts = host.split('.').map(Number);
  return parts.every((part) => part <= 255) ? parts : undefined;
}

/** The eight groups of a literal IPv6 address without a zone, or undefined. */
function ipv6Groups(host: string): number[] | undefined {
  if (host.length > 45 || !/^[0-9a-f:.]+$/i.test(host)) return undefined;
  let text = host;
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(host);
  if (tail) {
    const parts = ipv4Parts(tail[2]!);
    if (!parts) return undefined;
    const [a, b, c, d] = parts as [number, number, number, number];
    text = `${tail[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  if (text.includes('.')) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, rest] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const given = head!.length + (rest?.length ?? 0);
  if (rest ? given > 7 : given !== 8) return undefined;
  const groups = [...head!, ...Array.from({ length: 8 - given }, () => '0'), ...(rest ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.map((group) => Number.parseInt(group, 16));
}

export function isIpv4(host: string): boolean {
  return ipv4Parts(host) !== undefined;
}

export function isIpv6(host: string): boolean {
  return ipv6Groups(host) !== undefined;
}

/** Networks that no node of a public network is in (IANA special-purpose registries): first address, bits. */
const specialIpv4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

const toNumber = (parts: readonly number[]) => parts.reduce((sum, part) => sum * 256 + part, 0);

function isPublicIpv4(parts: readonly number[]): boolean {
  const value = toNumber(parts);
  return !specialIpv4.some(([network, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(value / size) === Math.floor(toNumber(ipv4Parts(network)!) / size);
  });
}

function isPublicIpv6([a = 0, b = 0, ...rest]: readonly number[]): boolean {
  // Global unicast is 2000::/3. Inside it: Teredo, benchmarking, ORCHID, documentation, and 6to4, which embeds IPv4.
  if (a >> 13 !== 1) return false;
  if (a === 0x2001 && (b < 0x200 || b === 0xdb8)) return false;
  if (a === 0x3fff && b < 0x1000) return false;
  if (a === 0x2002) return isPublicIpv4([b >> 8, b & 255, (rest[0] ?? 0) >> 8, (rest[0] ?? 0) & 255]);
  return true;
}

/**
 * Whether a literal IP address belongs to the public internet. A stranger that names other addresses wants the browser
 * to send packets into the user's own network.
 */
export function isPublicHost(host: string): boolean {
  const parts = ipv4Parts(host);
  if (parts) return isPublicIpv4(parts);
  const groups = ipv6Groups(host);
  return groups !== undefined && isPublicIpv6(groups);
}

/** The network that counts as one user: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function hostNetwork(host: string): string {
  const groups = ipv6Groups(host);
  return groups
    ? groups
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(':')
    : host;
}
