import type { NodeAddress } from './node-address.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';

const credentialPrefix = 'saorsa+webrtc+v2/';
const passwordPattern = /^[A-Za-z0-9+/]{22,239}$/;

/**
 * Makes the node's answer to an offer. Nothing is exchanged: the node takes the browser's ICE password from the user name
 * of the first packet, and the address has the hash of its certificate.
 *
 * The network's own client adds `a=ice-lite`, and this answer does not. A node waits until the browser has selected the
 * path. Chromium selects the path to a lite node only with a later check, which can be a second later.
 * @param offer the local description, unchanged.
 * @throws AntwayError `PEERS_UNREACHABLE` if the browser's offer has an unexpected form.
 */
export function synthesiseAnswer(offer: string, { host, port, certificateHash }: NodeAddress): string {
  const passwords = new Set(
    Array.from(offer.matchAll(/^a=ice-pwd:(.*?)\r?$/gm), ([, password]) => password!),
  );
  const [password] = passwords;
  if (passwords.size !== 1 || !passwordPattern.test(password!)) {
    throw nodeError('unreachable', 'This browser makes offers that nodes do not understand.');
  }
  const mid = /^a=mid:(\S{1,32})\r?$/m.exec(offer)?.[1] ?? '0';
  const credential = credentialPrefix + password;
  const fingerprint = Array.from(certificateHash, (byte) => byte.toString(16).padStart(2, '0'))
    .join(':')
    .toUpperCase();
  const family = host.includes(':') ? 'IP6' : 'IP4';
  const lines = [
    'v=0',
    `o=- 0 0 IN ${family} ${host}`,
    's=-',
    't=0 0',
    `m=application ${port} UDP/DTLS/SCTP webrtc-datachannel`,
    `c=IN ${family} ${host}`,
    `a=mid:${mid}`,
    'a=ice-options:ice2',
    `a=ice-ufrag:${credential}`,
    `a=ice-pwd:${credential}`,
    `a=fingerprint:sha-256 ${fingerprint}`,
    'a=setup:passive',
    'a=sctp-port:5000',
    `a=max-message-size:${nodeLimits.messageBytes}`,
    `a=candidate:1467250027 1 UDP 1467250027 ${host} ${port} typ host`,
    'a=end-of-candidates',
  ];
  return `${lines.join('\r\n')}\r\n`;
}
