// `npm start`: builds and runs the gateway from a fresh clone. Plain JavaScript, see setup.mjs.
import { networkOption } from './network-option.mjs';
import {
  buildCli,
  buildDropIn,
  buildNetworkPeer,
  buildPeer,
  buildShell,
  checkTools,
  fail,
  installPackages,
} from './setup.mjs';

try {
  const network = networkOption(process.argv.slice(2));
  checkTools();
  await installPackages();
  await (network ? buildNetworkPeer() : buildPeer());
  await buildShell();
  await buildCli();
  await buildDropIn();
  // Imported here because serve.mjs needs the installed packages.
  const { serve } = await import('./serve.mjs');
  await serve({ network });
} catch (error) {
  fail(error);
}
