import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { networkOption } from '../../src/cli/network-option.mjs';
import { SetupError } from '../../src/cli/setup.mjs';

describe('the network option of npm start', () => {
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
    expect(networkOption(args, env)).toBe(network);
  });

  it('finds a file relative to the folder in which the user runs npm', () => {
    expect(networkOption(['--network', 'nodes.txt'], { INIT_CWD: folder })).toBe(file);
    expect(networkOption([], { INIT_CWD: '/', ANTWAY_NETWORK: file })).toBe(file);
  });

  it('rejects a file that does not exist', () => {
    const network = () => networkOption(['--network', 'mainet'], { INIT_CWD: folder });
    expect(network).toThrow(SetupError);
    expect(network).toThrow('There is no network “mainet”');
  });

  it.each([[['--netwrk']], [['mainnet']], [['--network', 'mainnet', 'more']], [['--network=a', 'b']]])(
    'explains itself for %j',
    (args) => {
      expect(() => networkOption(args, {})).toThrow('npm start has one option');
    },
  );
});
