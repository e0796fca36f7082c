import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packages } from '../../build/packages.ts';
import { buildNpmPackages, built, installPackageTestTools } from '../../src/cli/setup.mjs';
import { fromRoot } from './paths.ts';

export const consumers = fromRoot('tests/packages/consumers');

/** A tool or runtime of `tests/packages/package.json`. */
export const packageTool = (path: string) => fromRoot(`tests/packages/node_modules/${path}`);

/** A new project that has the packages of this one and no others, unpacked from their tarballs as npm unpacks them. */
export class PackageProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'antway-packages-'));

  static async create(): Promise<PackageProject> {
    await installPackageTestTools();
    await buildNpmPackages();
    const project = new PackageProject();
    for (const { name } of packages) project.#install(name);
    return project;
  }

  /** The folder of a package of the scope `@antway`. */
  installed(name: string): string {
    return join(this.folder, 'node_modules/@antway', name);
  }

  tarball(name: string): string {
    const folder = join(this.folder, 'tarballs', name);
    return join(folder, readdirSync(folder)[0]!);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #install(name: string): void {
    const folder = join(this.folder, 'tarballs', name);
    for (const path of [folder, this.installed(name)]) mkdirSync(path, { recursive: true });
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    // With the script `prepack`, which refuses an incomplete folder.
    const args = ['pack', join(built.packages, name), '--offline', '--loglevel=error'];
    execFileSync(npm, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const target = ['--strip-components=1', '-C', this.installed(name)];
    execFileSync('tar', ['-xzf', this.tarball(name), ...target]);
  }
}
