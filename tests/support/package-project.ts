import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packages } from '../../build/packages.ts';
import { buildNpmPackages, built, installPackageTestTools } from '../../src/cli/setup.mjs';
import { fromRoot } from './paths.ts';

export const consumers = fromRoot('tests/packages/consumers');

/** A tool or runtime of `tests/packages/package.json`. */
export const packageTool = (path: string) => fromRoot(`tests/packages/node_modules/${path}`);

/** The versions of Vite that `@antway/vite` is for. */
export const viteVersions = {
  'Vite 8': fromRoot('node_modules/vite'),
  'Vite 7': packageTool('vite-7'),
  'Vite 6': packageTool('vite-6'),
};

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

  /** Adds a version of Vite, in place of another. @returns the folder of a site that uses it. */
  addVite(version: keyof typeof viteVersions): string {
    const folder = join(this.folder, 'vite');
    cpSync(fromRoot('tests/packages/vite'), folder, { recursive: true });
    const link = join(this.folder, 'node_modules/vite');
    rmSync(link, { force: true });
    symlinkSync(viteVersions[version], link, 'dir');
    return folder;
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
