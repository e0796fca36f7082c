// `npm run release`. Plain JavaScript, because it installs the packages that `release.ts` needs.
import { checkNode, fail, installPackages, run } from '../../src/cli/setup.mjs';

try {
  checkNode();
  await installPackages();
  const script = ['perf/run.mjs', '../build/release/release.ts', ...process.argv.slice(2)];
  await run(process.execPath, script);
} catch (error) {
  fail(error);
}
