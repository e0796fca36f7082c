// The peer in Rust from a package of npm. Plain JavaScript, see setup.mjs.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The platforms with a package, as Node names them: `build/peer-packages.ts` makes these packages. */
export const prebuiltPlatforms = ['linux-x64', 'linux-arm64'];

const checkTimeoutMs = 10_000;

/**
 * Finds the package with the peer for this system, and starts its program once to see that it runs here.
 * @param {object} options
 * @param {string} options.version the version that the peer must have.
 * @param {string[]} options.folders folders whose packages, and those of the folders around them, are searched.
 * @param {string} [options.platform] as `process.platform` and `process.arch`.
 * @returns {{ name: string, program: string } | { name: string, problem: string } | undefined} undefined if there is no
 *   package for this system or none is installed. `problem` says why the installed one cannot be used.
 */
export function findPrebuiltPeer({ version, folders, platform = `${process.platform}-${process.arch}` }) {
  if (!prebuiltPlatforms.includes(platform)) return undefined;
  const name = `@antway/peer-${platform}`;
  const problem = (text) => ({ name, problem: `The peer of ${name} cannot be used: ${text}` });
  let folder;
  let packaged;
  try {
    folder = installed(name, folders);
    if (folder === undefined) return undefined;
    packaged = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
  } catch (error) {
    return problem(`its package.json cannot be read (${error.message}). Install the package again.`);
  }
  if (packaged !== version) {
    return problem(`it has version ${packaged}, and this is Antway ${version}. Install ${name}@${version}.`);
  }
  const program = join(folder, 'antway-peer');
  const { error, status, signal, stdout, stderr } = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    timeout: checkTimeoutMs,
    killSignal: 'SIGKILL',
  });
  if (error) return problem(startProblem(error));
  const answer = stdout.trim();
  if (status === 0 && answer === `antway-peer ${version}`) return { name, program };
  if (status === 0) {
    return problem(`its program calls itself “${answer.slice(0, 100)}”. Install the package again.`);
  }
  const [reason = ''] = stderr.trim().split('\n');
  return problem(`its program ends with ${signal ?? `exit code ${status}`}${reason && `: ${reason}`}.`);
}

/**
 * The peer that `npm start` begins with: the one that is built from the sources, else the one of a package, else the one
 * in Node.
 * @param {object} options
 * @param {'node' | 'rust' | undefined} options.wanted the one that the user asks for.
 * @param {boolean} options.isBuilt whether the peer in Rust is built from the sources that are here.
 * @param {() => ReturnType<typeof findPrebuiltPeer>} options.find
 */
export function choosePeer({ wanted, isBuilt, find }) {
  if (wanted === 'node') return { peer: 'node' };
  if (isBuilt) return { peer: 'rust' };
  const found = find();
  if (found && 'program' in found) return { peer: 'rust', prebuilt: found };
  return { peer: 'node', prebuiltProblem: found?.problem };
}

/** The folder of an installed package. */
function installed(name, folders) {
  const { resolve } = createRequire(import.meta.url);
  try {
    return dirname(resolve(`${name}/package.json`, { paths: folders }));
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

function startProblem({ code, message }) {
  if (code === 'ETIMEDOUT') return `its program gave no answer within ${checkTimeoutMs / 1000} s.`;
  if (code === 'EACCES') return 'its program is not executable. Install the package again.';
  // The file is there; the system misses the program that loads it.
  if (code === 'ENOENT') {
    return 'its program is missing, or this system has no glibc (Alpine has musl). Build the peer with cargo.';
  }
  return `its program does not start (${message}).`;
}
