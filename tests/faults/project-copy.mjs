// A copy of the project in a temporary folder. Plain JavaScript, see src/cli/setup.mjs.
import { execFileSync } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, SetupError } from '../../src/cli/setup.mjs';
import { runProcess } from './test-command.mjs';

/** Packages, which no fault changes. */
const linkedFolders = ['node_modules', 'tests/packages/node_modules', 'tests/chain/node_modules'];
/** Builds. They are copied, because faults change them, and with their stamps. */
const copiedFolders = ['dist', 'dist-cli', 'dist-drop-in', 'dist-packages', 'peer/target/release'];
const stateFolder = '.antway';

/** The folder of a build, and the stamp that says from which sources it is. */
const outputs = {
  shell: { folder: 'dist', stamp: 'shell.stamp' },
  cli: { folder: 'dist-cli', stamp: 'cli.stamp' },
  'drop-in': { folder: 'dist-drop-in', stamp: 'drop-in.stamp' },
};

/** Cargo compares times of changes. Where the file system can, the copies share their bytes with the originals. */
const copying = { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE };

export class ProjectCopy {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
  }

  /** Makes an empty folder. @throws SetupError if the packages are not installed. */
  static async create() {
    if (!existsSync(join(root, 'node_modules')))
      throw new SetupError('There are no packages here. Run this first: npm test -- --quick');
    return new ProjectCopy(await realpath(await mkdtemp(join(tmpdir(), 'antway-faults-'))));
  }

  /** Copies the files that git has or would add, copies the builds, and links the packages. */
  async fill(signal) {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    const stamps = existsSync(join(root, stateFolder)) ? await readdir(join(root, stateFolder)) : [];
    const paths = [
      ...new Set(listed.split('\0').filter(Boolean)),
      ...copiedFolders,
      ...stamps.filter((name) => name.endsWith('.stamp')).map((name) => join(stateFolder, name)),
    ];
    for (const path of paths) {
      signal.throwIfAborted();
      if (existsSync(join(root, path))) await cp(join(root, path), this.#path(path), copying);
    }
    for (const path of linkedFolders) await this.#link(path);
  }

  /** Builds what is missing or out of date. @throws SetupError */
  async prepare(signal) {
    const { code, output } = await this.#build(Object.keys(outputs).concat('packages', 'peer'), signal);
    if (code !== 0) throw new SetupError(`The project cannot be built without a fault:\n${output}`);
  }

  /**
   * Puts a fault into the copy, and builds again what the fault needs.
   * @returns {Promise<string | undefined>} the output of a build that failed.
   */
  async apply({ file, find, replace, build }, signal) {
    const path = this.#path(file);
    const text = await readFile(path, 'utf8');
    await writeFile(
      path,
      text.replace(find, () => replace),
    );
    this.#restoring = [() => writeFile(path, text)];
    if (!build) return undefined;
    const { folder, stamp } = outputs[build];
    const [built, former, stampFile] = [folder, `${folder}-before`, join(stateFolder, stamp)].map((each) =>
      this.#path(each),
    );
    const stampText = await readFile(stampFile, 'utf8');
    await rename(built, former);
    this.#restoring.push(async () => {
      await rm(built, { recursive: true, force: true });
      await rename(former, built);
      await writeFile(stampFile, stampText);
    });
    const { code, output } = await this.#build([build], signal);
    return code === 0 ? undefined : output;
  }

  /** Takes the fault out again. */
  async restore() {
    for (const restore of this.#restoring) await restore();
    this.#restoring = [];
  }

  remove() {
    return rm(this.folder, { recursive: true, force: true });
  }

  /** @type {(() => Promise<void>)[]} */
  #restoring = [];

  #path(path) {
    return join(this.folder, path);
  }

  #build(names, signal) {
    return runProcess(this.folder, process.execPath, ['tests/faults/build.mjs', ...names], { signal });
  }

  /** Links the entries and not the folder, because tools write new entries into it. */
  async #link(path) {
    if (!existsSync(join(root, path))) return;
    await mkdir(this.#path(path), { recursive: true });
    for (const entry of await readdir(join(root, path))) {
      if (entry !== '.vite') await symlink(join(root, path, entry), this.#path(join(path, entry)));
    }
  }
}
