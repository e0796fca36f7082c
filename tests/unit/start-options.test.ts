import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../../src/cli/setup.mjs';
import { startOptions } from '../../src/cli/start-options.mjs';

describe('the options of npm start', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'antway-network-option-'));
    file = join(folder, 'nodes.txt');
    writeFileSync(file, '192.0.2.1:10000\n');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    { args: [], env: {}, network: undefined },
    { args: ['--network'], env: {}, network: 'mainnet' },
    { args: ['--network', 'mainnet'], env: {}, network: 'mainnet' },
    { args: ['--network=mainnet'], env: {}, network: 'mainnet' },
    { args: [], env: { ANTWAY_NETWORK: 'mainnet' }, network: 'mainnet' },
    { args: [], env: { ANTWAY_NETWORK: '' }, network: undefined },
    { args: [], env: { ANTWAY_NETWORK: 'none' }, network: undefined },
    { args: ['--network', 'none'], env: { ANTWAY_NETWORK: 'mainnet' }, network: undefined },
  ])('is $network for $args and $env', ({ args, env, network }) => {
    expect(startOptions(args, env).network).toBe(network);
  });

  it('finds a file relative to the folder in which the user runs npm', () => {
    expect(startOptions(['--network', 'nodes.txt'], { INIT_CWD: folder }).network).toBe(file);
    expect(startOptions([], { INIT_CWD: '/', ANTWAY_NETWORK: file }).network).toBe(file);
  });

  it('rejects a file that does not exist', () => {
    const network = () => startOptions(['--network', 'mainet'], { INIT_CWD: folder });
    expect(network).toThrow(SetupError);
    expect(network).toThrow('There is no network “mainet”');
  });

  it.each([[['--netwrk']], [['mainnet']], [['--network', 'mainnet', 'more']], [['--network=a', 'b']]])(
    'explains itself for %j',
    (args) => {
      expect(() => startOptions(args, {})).toThrow('npm start has two options');
    },
  );

  it.each([
    { args: [], env: {}, peer: undefined },
    { args: ['--peer', 'node'], env: {}, peer: 'node' },
    { args: ['--peer=rust', '--network'], env: {}, peer: 'rust' },
  ])('select the peer $peer for $args and $env', ({ args, env, peer }) => {
    expect(startOptions(args, env).peer).toBe(peer);
  });

  it('reject an unknown peer, and a network for the peer in Node', () => {
    expect(() => startOptions(['--peer', 'go'], {})).toThrow('There is no peer “go”');
    expect(() => startOptions(['--network', '--peer', 'node'], {})).toThrow(
      'cannot connect to the Autonomi network',
    );
  });
});
