// `npm start`: builds and runs the gateway from a fresh clone. Plain JavaScript, see setup.mjs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { choosePeer, findPrebuiltPeer } from './prebuilt-peer.mjs';
import { takeEnvironment } from './secret-variables.mjs';
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
  root,
  stateFolder,
  supportsRustPeer,
} from './setup.mjs';
import { startOptions } from './start-options.mjs';

try {
  takeEnvironment();
  const { network, peer } = startOptions(process.argv.slice(2));
  checkNode();
  if (network || peer === 'rust') checkCargo();
  await installPackages();
  if (network) await buildNetworkPeer();
  else if (peer === 'rust') await buildPeer();
  const isBuilt = network !== undefined || peer === 'rust' || (supportsRustPeer() && (await isPeerBuilt()));
  const choice = choosePeer({ wanted: peer, isBuilt, find: installedPeer });
  await buildShell();
  await buildCli();
  // Imported here because serve.mjs needs the installed packages.
  const { serve } = await import('./serve.mjs');
  await serve({
    network,
    ...choice,
    buildSuccessor:
      choice.peer === 'node' && peer === undefined && supportsRustPeer() && hasCargo()
        ? buildPeerInBackground
        : undefined,
    buildExample: buildDropIn,
  });
} catch (error) {
  fail(error);
}

function installedPeer() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // The state's folder is one that the installation of this project's own packages leaves alone.
  return findPrebuiltPeer({ version, folders: [stateFolder, root] });
}
