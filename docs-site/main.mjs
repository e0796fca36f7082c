// `npm run docs` builds the documentation site, `npm run docs -- --dev` serves it while the documents change. Plain
// JavaScript, because it installs the site's packages itself.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkNode, fail, installDocsPackages, run, SetupError } from '../src/cli/setup.mjs';

const folder = import.meta.dirname;

try {
  const { dev } = readOptions();
  checkNode();
  await installDocsPackages();
  await runOfPackage('typescript/bin/tsc', '-p', '.vitepress');
  await runOfPackage('typedoc/bin/typedoc', '--logLevel', 'Error');
  await runOfPackage('vitepress/bin/vitepress.js', ...(dev ? ['dev', '--host', '127.0.0.1'] : ['build']));
  if (!dev) console.log(`The site is in ${join(folder, '.vitepress/dist')}`);
} catch (error) {
  fail(error);
}

function readOptions() {
  try {
    return parseArgs({ options: { dev: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new SetupError(`${error.message}. The only option is --dev.`);
  }
}

/** @param program path of a script, below the site's packages. */
function runOfPackage(program, ...args) {
  return run(process.execPath, [join(folder, 'node_modules', program), ...args], { cwd: folder });
}
