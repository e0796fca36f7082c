// `npm start`: builds and runs the gateway from a fresh clone. Plain JavaScript, see setup.mjs.
import { buildCli, buildDropIn, buildPeer, buildShell, checkTools, fail, installPackages } from './setup.mjs';

try {
  checkTools();
  await installPackages();
  await buildPeer();
  await buildShell();
  await buildCli();
  await buildDropIn();
  // Imported here because serve.mjs needs the installed packages.
  const { serve } = await import('./serve.mjs');
  await serve();
} catch (error) {
  fail(error);
}
