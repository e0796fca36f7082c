import { describe, expect, it } from 'vitest';
import { PeerUrl } from '../../src/peer-url.ts';

const base = 'https://gateway.example/';
const hash = 'cd'.repeat(32);

const notUrl = 'it must be a URL, or / for this host';
const notSecure = 'it must be an https:// URL, or http:// on loopback';
const notOrigin = 'it must be an origin, with nothing but #sha-256=… after it';
const notHash = 'what follows # must be sha-256=<64 hex digits>[,<64 hex digits>…]';

describe('the URL of a peer', () => {
  it('is reduced to its origin', () => {
    expect(PeerUrl.parse('https://Peer.Example:443/')).toMatchObject({
      kind: 'antway',
      origin: 'https://peer.example',
      id: 'https://peer.example',
      certificateHashes: [],
    });
  });

  it('written as a path is the host of the page', () => {
    expect(PeerUrl.parse('/', base).id).toBe('https://gateway.example');
  });

  it.each([
    ['anttp+HTTP://127.0.0.1:18888/', 'anttp', 'http://127.0.0.1:18888'],
    ['antd+https://Antd.Example:443', 'antd', 'https://antd.example'],
  ])('may have the prefix of another program: %s', (text, kind, origin) => {
    expect(PeerUrl.parse(text)).toMatchObject({ kind, origin, id: `${kind}+${origin}` });
  });

  it('may pin certificates, in either case', () => {
    const other = '12'.repeat(32);
    const peer = PeerUrl.parse(`https://peer.example:4433#sha-256=${hash.toUpperCase()},${other}`);
    expect(peer).toMatchObject({ id: 'https://peer.example:4433', certificateHashes: [hash, other] });
    expect(String(peer)).toBe(`https://peer.example:4433#sha-256=${hash},${other}`);
  });

  it.each([
    'https://peer.example',
    'http://[::1]:8080',
    'anttp+https://anttp.example',
    `https://peer.example#sha-256=${hash}`,
  ])('is parsed again as the same peer: %s', (text) => {
    const peer = PeerUrl.parse(text);
    expect(String(peer)).toBe(text);
    expect(PeerUrl.parse(String(peer))).toEqual(peer);
  });

  it.each(['http://127.0.0.1:8080', 'http://localhost:1', 'http://antway.localhost', 'http://[::1]:8080'])(
    'may be without TLS on loopback: %s',
    (text) => {
      expect(PeerUrl.parse(text)).toMatchObject({ id: text, isLoopback: true });
    },
  );

  it('with TLS may be anywhere', () => {
    expect(PeerUrl.parse('https://peer.example').isLoopback).toBe(false);
    expect(PeerUrl.parse('antd+https://localhost:1').isLoopback).toBe(true);
  });

  it.each([
    ['without TLS beyond loopback', 'http://peer.example', notSecure],
    ['without TLS at a name that only looks like loopback', 'http://127.0.0.1.example', notSecure],
    ['without TLS at a name that only ends like loopback', 'http://notlocalhost', notSecure],
    ['with credentials', 'https://user:secret@peer.example', notOrigin],
    ['with a path', 'https://peer.example/v1', notOrigin],
    ['with a query', 'https://peer.example/?a', notOrigin],
    ['with a certificate hash that is too short', `https://peer.example#sha-256=${hash.slice(1)}`, notHash],
    ['with another hash than SHA-256', `https://peer.example#sha-1=${hash}`, notHash],
    [
      'with certificate hashes but without TLS',
      `http://127.0.0.1:1#sha-256=${hash}`,
      'certificate hashes need an https:// URL',
    ],
    ['of another kind, without TLS beyond loopback', 'anttp+http://anttp.example', notSecure],
    [
      'of another kind, with certificate hashes',
      `antd+https://antd.example#sha-256=${hash}`,
      'AntTP and antd are asked by HTTP, which certificate hashes do not help',
    ],
    ['of another kind, as a path', 'antd+/', notUrl],
    ['of two kinds', 'antd+anttp+http://127.0.0.1', notUrl],
    ['of a kind that is not known', 'other+https://peer.example', notUrl],
    ['that is no URL', 'https://', notUrl],
    ['of another scheme', 'data:text/plain,', notUrl],
    ['that is no text', 7, notUrl],
  ])('is refused %s', (_, value, why) => {
    expect(() => PeerUrl.parse(value, base, 'peers[3]')).toThrow(
      expect.objectContaining({
        code: 'BAD_CONFIG',
        message: `peers[3]: ${why}.`,
        details: { key: 'peers[3]' },
      }),
    );
  });

  it('written as a path is refused where no page has a host', () => {
    expect(() => PeerUrl.parse('/')).toThrow(expect.objectContaining({ message: `peers: ${notUrl}.` }));
  });
});
