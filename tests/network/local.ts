// `pnpm network:local`: a network of real nodes, a chain and a relay on this machine, to try paid uploads without value.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCli, buildPeer, buildShell, fail, installTestChain } from '../../src/cli/setup.mjs';
import { fromRoot } from '../support/paths.ts';
import { richKey, TestChain } from '../support/test-chain.ts';
import { buildPrograms } from './build.ts';
import { Devnet } from './devnet.ts';
import { NetworkPeer } from './network-peer.ts';

/** More than the seven whose quotes an upload needs. */
const nodeCount = 10;

try {
  await buildPeer();
  await buildShell();
  await buildCli();
  await installTestChain();
  await buildPrograms();
  await main();
} catch (error) {
  fail(error);
}

async function main(): Promise<void> {
  const ended = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, resolve);
  });
  const folder = await mkdtemp(join(tmpdir(), 'antway-local-network-'));
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const chain = await TestChain.start();
    stops.push(() => chain.stop());
    const network = await Devnet.start(nodeCount, folder, { chain });
    stops.push(() => network.stop());
    const bootstrapFile = join(folder, 'nodes.txt');
    await writeFile(bootstrapFile, `${network.bootstrap.join('\n')}\n`);
    const parameters = `${TestChain.chainId},${chain.token},${chain.vault}`;
    const flags = [`--allow-paid-uploads=${parameters}`, '--web', fromRoot('dist')];
    const relay = await NetworkPeer.start(bootstrapFile, ...flags);
    stops.push(() => relay.stop());
    await relay.reached('connected');
    const gateway = relay.url.replace('127.0.0.1', 'antway.localhost');
    console.log(`
A network of ${nodeCount} nodes runs on this machine, with a chain whose payments have no value.
In another terminal, publish the folder my-site with an account that everyone knows:

  export ANTWAY_PRIVATE_KEY=${richKey}
  export ANTWAY_RPC=${chain.rpc}
  node dist-cli/antway.js publish my-site --network --relay ${relay.url} --chain ${parameters} --gateway ${gateway}

Ctrl-C ends the network, and its records are lost.`);
    await ended;
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}
