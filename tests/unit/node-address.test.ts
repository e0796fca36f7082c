import { describe, expect, it } from 'vitest';
import { hostNetwork, isPublicHost } from '../../src/nodes/host.ts';
import { formatNodeAddress, parseNodeAddress, parseSeeds } from '../../src/nodes/node-address.ts';
import { mainnetSeeds } from '../../src/nodes/seeds.ts';

const hash = 'uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ';
const peerId = '57a89f84e1652d22fd6b791c29d83f187fbed3ba8e08e265fe3031b3a6f725da';
const parts = (changes: Record<number, string>) =>
  ['', 'ip4', '207.148.94.42', 'udp', '10001', 'webrtc-direct', 'certhash', hash, 'p2p', peerId]
    .map((part, i) => changes[i] ?? part)
    .join('/');

describe('the address of a node', () => {
  it('is read and written the same for every seed of the main network', () => {
    expect(mainnetSeeds).toHaveLength(7);
    expect(parseSeeds(mainnetSeeds).map(formatNodeAddress)).toEqual(mainnetSeeds);
  });

  it('can have IPv6', () => {
    const text = parts({ 1: 'ip6', 2: '2606:4700::1111' });
    expect(formatNodeAddress(parseNodeAddress(text)!)).toBe(text);
  });

  it.each([
    ['nothing', ''],
    ['a name', parts({ 1: 'dns4', 2: 'example.com' })],
    ['a name as IPv4', parts({ 2: 'example.com' })],
    ['IPv4 with zeros', parts({ 2: '207.148.094.42' })],
    ['IPv4 as a number', parts({ 2: '3482607146' })],
    ['IPv4 out of range', parts({ 2: '207.148.94.256' })],
    ['IPv6 as IPv4', parts({ 2: '::1' })],
    ['a zone', parts({ 1: 'ip6', 2: 'fe80::1%eth0' })],
    ['TCP', parts({ 3: 'tcp' })],
    ['port 0', parts({ 4: '0' })],
    ['a port with a zero', parts({ 4: '010001' })],
    ['a large port', parts({ 4: '65536' })],
    ['another transport', parts({ 5: 'webtransport' })],
    ['no hash', parts({ 7: '' })],
    ['another base', parts({ 7: `m${hash.slice(1)}` })],
    ['another hash function', parts({ 7: `uEyA${hash.slice(4)}` })],
    ['another spelling of the hash', parts({ 7: `${hash.slice(0, -1)}R` })],
    ['a peer id in upper case', parts({ 9: peerId.toUpperCase() })],
    ['a short peer id', parts({ 9: peerId.slice(2) })],
    ['more after it', `${parts({})}/p2p-circuit`],
    ['a line break, which would end a line of the session description', parts({ 2: '1.2.3.4\r\na=x' })],
    ['a long text', parts({ 9: peerId.repeat(100) })],
  ])('is not %s', (_, text) => {
    expect(parseNodeAddress(text)).toBeUndefined();
  });

  it('of a wrong seed is named in the error', () => {
    expect(() => parseSeeds(['/ip4/1.2.3.4'])).toThrowError(expect.objectContaining({ code: 'BAD_CONFIG' }));
  });
});

describe('a public host', () => {
  it.each([
    '207.148.94.42',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '2606:4700::1111',
    '2a01:4f8::1',
  ])('is %s', (host) => expect(isPublicHost(host)).toBe(true));

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '203.0.113.5',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:192.168.1.1',
    '::ffff:1.1.1.1',
    '64:ff9b::a00:1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2002:a00:1::1',
    '2002:c0a8:101::1',
    'localhost',
    '',
    '1.2.3',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
  ])('is not %s', (host) => expect(isPublicHost(host)).toBe(false));

  it('counts as one network for 64 bits of IPv6', () => {
    expect(hostNetwork('2606:4700::1')).toBe(hostNetwork('2606:4700:0:0:ffff::2'));
    expect(hostNetwork('2606:4700:0:1::1')).not.toBe(hostNetwork('2606:4700::1'));
    expect(hostNetwork('1.2.3.4')).toBe('1.2.3.4');
  });
});
