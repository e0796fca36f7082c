// `pnpm perf`: from a fresh clone to numbers. Plain JavaScript, see src/cli/setup.mjs.
import { buildPeer, buildShell, checkTools, fail, installPackages } from '../src/cli/setup.mjs';

try {
  checkTools();
  await installPackages();
  await buildPeer();
  await buildShell();
} catch (error) {
  fail(error);
}
process.argv.splice(2, 0, 'lab/main.ts');
await import('./run.mjs');
