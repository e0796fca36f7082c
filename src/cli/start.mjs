// `npm start`: builds and runs the gateway from a fresh clone. Plain JavaScript, see setup.mjs.
import {
  buildCli,
  buildDropIn,
  buildNetworkPeer,
  buildPeer,
  buildPeerInBackground,
  buildShell,
  checkCargo,
  checkNode,
  fail,
  hasCargo,
  installPackages,
  isPeerBuilt,
  supportsRustPeer,
} from './setup.mjs';
import { startOptions } from './start-options.mjs';

try {
  const { network, peer } = startOptions(process.argv.slice(2));
  checkNode();
  if (network || peer === 'rust') checkCargo();
  await installPackages();
  if (network) await buildNetworkPeer();
  else if (peer === 'rust') await buildPeer();
  const usesRust =
    network || peer === 'rust' || (peer !== 'node' && supportsRustPeer() && (await isPeerBuilt()));
  await buildShell();
  await buildCli();
  // Imported here because serve.mjs needs the installed packages.
  const { serve } = await import('./serve.mjs');
  await serve({
    network,
    peer: usesRust ? 'rust' : 'node',
    buildSuccessor:
      peer === undefined && supportsRustPeer() && hasCargo() ? buildPeerInBackground : undefined,
    buildExample: buildDropIn,
  });
} catch (error) {
  fail(error);
}
