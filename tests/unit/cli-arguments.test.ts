import { describe, expect, it } from 'vitest';
import { parseArguments, UsageError } from '../../src/cli/arguments.ts';
import { PeerUrl } from '../../src/peer-url.ts';

/** Of digits alone: a parser that guesses types would make a number of it. */
const address = `${'0123456789'.repeat(6)}0123`;

describe('the command line', () => {
  it.each([
    [[]],
    [['frobnicate']],
    [['--unknown']],
    [['publish']],
    [['publish', '']],
    [['publish', 'a', 'b']],
    [['publish', 'a', '--unknown']],
    [['publish', 'a', '--peer']],
    [['publish', 'a', '--peer', 'peer.example']],
    [['publish', 'a', '--peer', '/']],
    [['publish', 'a', '--peer', 'http://example.org']],
    [['publish', 'a', '--peer', 'https://peer.example/path']],
    [['publish', 'a', '--peer', `https://peer.example#sha-256=${'0'.repeat(64)}`]],
    [['publish', 'a', '--peer', 'https://peer.example', '--out', 'b']],
    [['publish', 'a', '--gateway', 'nowhere']],
    [['get']],
    [['get', 'abc']],
    [['get', `${address}0`]],
    [['get', address, '--token', 'x']],
    [['get', address, '--from', 'a', '--peer', 'https://peer.example']],
    [['verify']],
    [['verify', 'gateway.example']],
    [['verify', 'http://gateway.example']],
    [['verify', 'https://a.example', 'https://b.example']],
    [['verify', 'https://a.example', '--peer', 'https://b.example']],
  ])('is refused: %j', (args: string[]) => {
    expect(() => parseArguments(args, {})).toThrow(UsageError);
  });

  it.each([[['--help']], [['-h']], [['help']], [['get', '--help']], [['publish', '-h', '--json']]])(
    'asks for help: %j',
    (args: string[]) => {
      expect(parseArguments(args, {})).toEqual({ command: 'help' });
    },
  );

  it('names a file or folder and where its chunks go', () => {
    const args = ['publish', 'site', '--peer', 'https://a.example/', '--peer', 'http://[::1]:8080', '--json'];
    expect(parseArguments([...args, '--peer', 'https://a.example'], {})).toEqual({
      command: 'publish',
      path: 'site',
      peers: ['https://a.example', 'http://[::1]:8080'].map((url) => PeerUrl.parse(url)),
      token: undefined,
      out: undefined,
      gateway: undefined,
      ignore: [],
      json: true,
    });
  });

  it('names a gateway and the build to compare it with', () => {
    expect(parseArguments(['verify', 'http://antway.localhost:8080/', '--json'], {})).toEqual({
      command: 'verify',
      gateway: 'http://antway.localhost:8080',
      build: undefined,
      json: true,
    });
    expect(parseArguments(['verify', 'https://a.example', '--build', 'b'], {})).toMatchObject({ build: 'b' });
  });

  it('takes the token from the environment, unless one is given', () => {
    const env = { ANTWAY_TOKEN: '00123' };
    expect(parseArguments(['publish', 'a'], env)).toMatchObject({ token: '00123' });
    expect(parseArguments(['publish', 'a', '--token', '0e5'], env)).toMatchObject({ token: '0e5' });
    expect(parseArguments(['publish', 'a'], { ANTWAY_TOKEN: '' })).toMatchObject({ token: undefined });
  });

  it('asks the peer that npm start makes, if none is named', () => {
    expect(parseArguments(['get', address], {})).toMatchObject({
      peers: [PeerUrl.parse('http://antway.localhost:8080')],
    });
  });

  it.each([
    [address, undefined],
    [`${address}/`, ''],
    [`${address}/a folder/with 100% spaces.txt`, 'a folder/with 100% spaces.txt'],
    [`${address}//a`, '/a'],
  ])('splits %j into address and path, as they are spelled', (target, path) => {
    const parsed = parseArguments(['get', target], {});
    expect(parsed).toMatchObject({ command: 'get', path });
    expect('address' in parsed && parsed.address.hex).toBe(address);
  });

  it('has “-” for standard output', () => {
    expect(parseArguments(['get', address, '--out', '-'], {})).toMatchObject({ out: undefined });
  });
});
