import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run, SetupError } from '../../src/cli/setup.mjs';

/**
 * Builds the same commit again, in a fresh clone, and compares every archive.
 * @param folder the artefacts of the first build.
 * @param names the archives to compare.
 * @param options the options of the first build.
 * @throws SetupError that names the archives that differ.
 */
export async function compareWithSecondBuild(
  folder: string,
  names: readonly string[],
  options: readonly string[],
): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'antway-release-'));
  try {
    const clone = join(temporary, 'project');
    await run('git', ['clone', '--quiet', root, clone]);
    const output = join(temporary, 'output');
    const env = { ...process.env };
    // The clone builds its own peer.
    delete env.CARGO_TARGET_DIR;
    await run(process.execPath, ['build/release/main.mjs', '--out', output, ...options], { cwd: clone, env });
    const different = names.filter(
      (name) => !readFileSync(join(folder, name)).equals(readFileSync(join(output, name))),
    );
    if (different.length > 0)
      throw new SetupError(`A second build differs in: ${different.join(', ')}. Nothing may be released.`);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @throws SetupError if the checkout has changes, which a clone would not have. */
export function checkClean(): void {
  const { stdout, status } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new SetupError('A release is built from a git checkout.');
  if (stdout !== '') throw new SetupError(`The checkout has changes:\n${stdout}`);
}
