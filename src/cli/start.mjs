// `npm start`: from a fresh clone to a running gateway. Plain JavaScript, see setup.mjs.
import { buildCli, buildDropIn, buildPeer, buildShell, checkTools, fail, installPackages } from './setup.mjs';

try {
  checkTools();
  await installPackages();
  await buildPeer();
  await buildShell();
  await buildCli();
  await buildDropIn();
  // Now that there are packages.
  const { serve } = await import('./serve.mjs');
  await serve();
} catch (error) {
  fail(error);
}
