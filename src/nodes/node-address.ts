import { fromHex, toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { concat } from './bytes.ts';
import { isIpv4, isIpv6 } from './host.ts';
import { nodeLimits } from './node-limits.ts';

/** Where a node listens for browsers, and who it has to be. */
export interface NodeAddress {
  /** The BLAKE3 hash of the node's ML-DSA-65 key: 64 lower-case hex digits. */
  readonly peerId: string;
  /** A literal IP address. */
  readonly host: string;
  readonly port: number;
  /** The SHA-256 of the node's DTLS certificate: 32 bytes. */
  readonly certificateHash: Uint8Array<ArrayBuffer>;
}

const sha256Multihash = [0x12, 0x20];
const peerIdPattern = /^[0-9a-f]{64}$/;

export function isPeerId(text: string): boolean {
  return peerIdPattern.test(text);
}

/**
 * Parses `/ip4|ip6/<ip>/udp/<port>/webrtc-direct/certhash/u<base64url multihash>/p2p/<peer id>`.
 * @returns undefined for every other text, also for another spelling of an address.
 */
export function parseNodeAddress(text: string): NodeAddress | undefined {
  if (text.length > nodeLimits.multiaddrCharacters) return undefined;
  const [
    empty,
    family,
    host = '',
    udp,
    portText = '',
    webrtc,
    certhash,
    hash = '',
    p2p,
    peerId = '',
    ...more
  ] = text.split('/');
  const isLiteral = family === 'ip4' ? isIpv4(host) : family === 'ip6' && isIpv6(host);
  const isComplete = empty === '' && udp === 'udp' && webrtc === 'webrtc-direct' && certhash === 'certhash';
  const port = /^[1-9]\d{0,4}$/.test(portText) ? Number(portText) : 0;
  if (!isLiteral || !isComplete || p2p !== 'p2p' || more.length > 0) return undefined;
  if (port === 0 || port > 0xffff || !isPeerId(peerId)) return undefined;
  const certificateHash = parseCertificateHash(hash);
  return certificateHash && { peerId, host, port, certificateHash };
}

/** @param text `u` and 34 bytes in base64url. */
function parseCertificateHash(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^u[\w-]{46}$/.test(text)) return undefined;
  const base64 = text.slice(1).replaceAll('-', '+').replaceAll('_', '/');
  const multihash = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const isSha256 = sha256Multihash.every((byte, i) => multihash[i] === byte);
  // 46 digits have 4 bits more than 34 bytes. Only one spelling leaves them zero.
  return isSha256 && encodeCertificateHash(multihash.slice(2)) === text ? multihash.slice(2) : undefined;
}

function encodeCertificateHash(hash: Uint8Array): string {
  const multihash = concat(new Uint8Array(sha256Multihash), hash);
  const base64 = btoa(String.fromCharCode(...multihash));
  return `u${base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

export function formatNodeAddress({ peerId, host, port, certificateHash }: NodeAddress): string {
  const family = host.includes(':') ? 'ip6' : 'ip4';
  const hash = encodeCertificateHash(certificateHash);
  return `/${family}/${host}/udp/${port}/webrtc-direct/certhash/${hash}/p2p/${peerId}`;
}

/** Parses the seeds of a configuration. @throws AntwayError `BAD_CONFIG` */
export function parseSeeds(seeds: readonly string[]): NodeAddress[] {
  return seeds.map((seed) => {
    const address = parseNodeAddress(seed);
    if (!address) throw new AntwayError('BAD_CONFIG', `“${seed}” is not the address of a node for browsers.`);
    return address;
  });
}

/** Whether two addresses lead to the same socket of the same node. */
export function isSameNode(a: NodeAddress, b: NodeAddress): boolean {
  return (
    a.peerId === b.peerId &&
    a.host === b.host &&
    a.port === b.port &&
    toHex(a.certificateHash) === toHex(b.certificateHash)
  );
}

export function peerIdBytes({ peerId }: NodeAddress): Uint8Array<ArrayBuffer> {
  return fromHex(peerId);
}
