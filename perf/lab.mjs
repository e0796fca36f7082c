// `pnpm perf`: from a fresh clone to numbers. Plain JavaScript, see src/cli/setup.mjs.
import {
  buildCli,
  buildPeer,
  buildShell,
  checkCargo,
  checkNode,
  fail,
  installPackages,
} from '../src/cli/setup.mjs';

try {
  checkNode();
  checkCargo();
  await installPackages();
  await buildPeer();
  await buildCli();
  await buildShell();
} catch (error) {
  fail(error);
}
process.argv.splice(2, 0, 'lab/main.ts');
await import('./run.mjs');
