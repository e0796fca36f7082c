import { describe, expect, it } from 'vitest';
import { PeerUrl } from '../../src/peer-url.ts';
import { byDefaultPort, peerCandidates } from '../../src/shell/connection/peer-candidates.ts';

const base = 'https://gateway.example/';
const hash = 'cd'.repeat(32);

describe('a text of a user', () => {
  const idsOf = (text: string) => peerCandidates(text, base).map(String);

  it.each<[string, string[]]>([
    ['/', ['https://gateway.example']],
    ['peer.example', ['https://peer.example']],
    [' Peer.Example:4433 ', ['https://peer.example:4433']],
    ['https://peer.example/abc/?d#', ['https://peer.example']],
    ['peer.example/abc', ['https://peer.example']],
    ['127.0.0.1:8080', ['http://127.0.0.1:8080', 'https://127.0.0.1:8080']],
    ['antway.localhost:8080', ['http://antway.localhost:8080', 'https://antway.localhost:8080']],
    ['localhost', ['http://localhost:8080', 'anttp+http://localhost:18888', 'antd+http://localhost:8082']],
    ['anttp+http://127.0.0.1:18888', ['anttp+http://127.0.0.1:18888']],
    ['AntTP+HTTP://127.0.0.1:18888', ['anttp+http://127.0.0.1:18888']],
    [`https://peer.example:1#sha-256=${hash}`, [`https://peer.example:1#sha-256=${hash}`]],
    ['__proto__', ['https://__proto__']],
  ])('may mean these peers: %s', (text, ids) => {
    expect(idsOf(text)).toEqual(ids);
  });

  it.each([
    '',
    'not a host',
    'ftp://peer.example',
    'http://peer.example',
    'https://user:secret@peer.example/a',
    'javascript:alert(1)',
    'anttp+http://peer.example',
    'https://peer.example#sha-256=1',
    'user:secret@peer.example',
    'x'.repeat(3_000),
  ])('means no peer: %.40s', (text) => {
    expect(() => peerCandidates(text, base)).toThrow(expect.objectContaining({ code: 'BAD_CONFIG' }));
  });

  it('is of another kind by its default port on this computer only', () => {
    const kindOf = (url: string) => byDefaultPort(PeerUrl.parse(url)).kind;
    expect(kindOf('http://127.0.0.1:18888')).toBe('anttp');
    expect(kindOf('http://localhost:8082')).toBe('antd');
    expect(kindOf('http://localhost:8080')).toBe('antway');
    expect(kindOf('http://localhost:1')).toBe('antway');
    expect(kindOf('https://peer.example:18888')).toBe('antway');
  });
});
