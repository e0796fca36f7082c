import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromRoot } from '../../tests/support/paths.ts';
import type { Stage } from './bench.ts';
import type { Measured, Scale } from './scenario.ts';

const folder = fromRoot('perf/native');
const binary = join(
  folder,
  'target/release',
  process.platform === 'win32' ? 'antway-native.exe' : 'antway-native',
);

/** The network's own crates, as a program that times one stage on one core. */
export class Native {
  private constructor() {}

  /**
   * Builds it if there is a `cargo`. A smoke run takes only what was built before: building takes minutes.
   * @returns undefined when there is none.
   * @throws Error when it does not build.
   */
  static async build(scale: Scale): Promise<Native | undefined> {
    if (scale !== 'smoke') {
      if (spawnSync('cargo', ['--version']).status !== 0) return undefined;
      await promisify(execFile)('cargo', ['build', '--release', '--locked', '--target-dir', 'target'], {
        cwd: folder,
      });
    }
    return existsSync(binary) ? new Native() : undefined;
  }

  /** @param file of which it reads all. */
  async time(stage: Stage, file: string): Promise<Measured> {
    // The crate decrypts several chunks at once; encryption and decryption are compared on one core.
    const { stdout } = await promisify(execFile)(binary, [stage, file], {
      env: { ...process.env, RAYON_NUM_THREADS: '1' },
    });
    return { requests: 1, ...(JSON.parse(stdout) as { bytes: number; milliseconds: number }) };
  }
}
