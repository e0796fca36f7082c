// Builds what its arguments name, in the copy of the project that this file belongs to.
import {
  buildCli,
  buildDropIn,
  buildNpmPackages,
  buildPeer,
  buildShell,
  fail,
} from '../../src/cli/setup.mjs';

const builds = {
  shell: buildShell,
  cli: buildCli,
  'drop-in': buildDropIn,
  packages: buildNpmPackages,
  peer: () => buildPeer({ withTestPrograms: true }),
};

try {
  for (const name of process.argv.slice(2)) await builds[name]();
} catch (error) {
  fail(error);
}
