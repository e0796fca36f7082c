import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prebuiltPlatforms } from '../../src/cli/prebuilt-peer.mjs';
import { buildCli, buildShell, built, root } from '../../src/cli/setup.mjs';

const secrets = {
  ANTWAY_PRIVATE_KEY: 'secret-1',
  ANTWAY_KEY_PASSPHRASE: 'secret-2',
  ANTWAY_KEYSTORE_PASSPHRASE: 'secret-3',
  ANTWAY_TOKEN: 'secret-4',
  ANTWAY_RPC: 'https://rpc.example/secret-5',
  AWS_SECRET_ACCESS_KEY: 'secret-6',
  AWS_SESSION_TOKEN: 'secret-7',
};
const platform = `${process.platform}-${process.arch}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'antway-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// Other platforms have no package of the peer, which is a program that the command starts.
describe.runIf(prebuiltPlatforms.includes(platform))('the programs that a command starts', () => {
  beforeAll(async () => {
    await buildShell();
    await buildCli();
  }, 300_000);

  it('do not inherit its secrets, but everything else', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const packaged = join(folder, `packages/@antway/peer-${platform}`);
    mkdirSync(packaged, { recursive: true });
    writeFileSync(join(packaged, 'package.json'), JSON.stringify({ version }));
    // Writes its environment down, and serves nothing, so that the peer in Node serves.
    const program = `#!/bin/sh\nenv > "${folder}/environment-$1"\necho "antway-peer ${version}"\n`;
    writeFileSync(join(packaged, 'antway-peer'), program);
    chmodSync(join(packaged, 'antway-peer'), 0o755);
    mkdirSync(join(folder, 'site'));
    writeFileSync(join(folder, 'site/index.html'), '<h1>site</h1>');
    const child = spawn(
      process.execPath,
      [built.cli, 'serve', join(folder, 'site'), '--port', '0', '--json'],
      {
        env: {
          ...process.env,
          ...secrets,
          NODE_PATH: join(folder, 'packages'),
          ANTWAY_PEER_LOG_LEVEL: 'warn',
        },
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    try {
      await once(createInterface({ input: child.stdout! }), 'line');
      const written = readdirSync(folder).filter((name) => name.startsWith('environment-'));
      expect(written.sort()).toEqual(['environment---version', 'environment-serve']);
      for (const name of written) {
        const environment = readFileSync(join(folder, name), 'utf8');
        expect(environment).toContain('ANTWAY_PEER_LOG_LEVEL=warn');
        expect(environment).not.toContain('secret-');
      }
    } finally {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }, 60_000);
});
