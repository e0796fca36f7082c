import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Address } from '../../address.ts';
import { asAntwayError } from '../../errors.ts';
import type { OwnerKey } from '../../owner/owner-key.ts';
import { HttpWriter } from '../../peers/transports/http-writer.ts';
import { uploadTo } from '../../publish/upload.ts';
import type { ServerConfig } from '../../server-config.ts';
import { writeAtomically } from '../atomic-file.ts';
import { checkChunks, requireAllRight } from '../check-chunks.ts';
import type { CommandContext } from '../context.ts';
import { formatBytes, plural } from '../format.ts';
import { openKey } from '../open-key.ts';
import {
  ignoreOption,
  nameFrom,
  type OutputOptions,
  originFrom,
  type WriteOptions,
  withOutput,
  withWrites,
} from '../options.ts';
import { Output } from '../output.ts';
import { publicationAt, publishTo, summaryOf, urlPathOf } from '../publish-path.ts';
import { defaultConfigFile, loadSettings, readConfig, writablePeers } from '../settings.ts';
import { signOption, signPublication } from '../sign-publication.ts';
import { requirePeers } from '../silent-peers.ts';
import { watchFolder } from '../watch-folder.ts';

interface DeployOptions extends WriteOptions, OutputOptions {
  name: string;
  watch?: true;
  ignore?: string[];
  gateway?: string;
  sign?: string;
}

export function define(command: Command, context: CommandContext): void {
  withOutput(withWrites(command))
    .argument('<folder>', 'the site')
    .option('--name <name>', 'the name in antway.json that follows the newest version', nameFrom, 'site')
    .option('--watch', 'deploy again when a file changes')
    .option('--gateway <url>', 'the gateway of the printed URL (default: the first peer)', originFrom)
    .addOption(ignoreOption())
    .addOption(signOption())
    .addHelpText(
      'after',
      `
Publishes the folder, fetches every chunk back from each peer, and then writes the name and the deployment to
antway.json (or the file of --config). A gateway or a site that has this file shows the newest version under the name.`,
    )
    .action((folder: string, options: DeployOptions) => deployAll(folder, options, context));
}

async function deployAll(folder: string, options: DeployOptions, context: CommandContext): Promise<void> {
  const { signal } = context;
  const output = new Output(options);
  const key = options.sign === undefined ? undefined : await openKey(options.sign, context);
  await deploy(folder, options, key, context, output);
  if (!options.watch) return;
  output.note('Watching for changes. Press Ctrl-C to stop.');
  const update = async () => {
    try {
      await deploy(folder, options, key, context, output);
    } catch (error) {
      if (signal.aborted) return;
      const { code, message } = asAntwayError(error);
      output.note(`${code}: ${message} The deployment before stays in place.`);
    }
  };
  await watchFolder(folder, update, signal);
}

async function deploy(
  folder: string,
  options: DeployOptions,
  key: OwnerKey | undefined,
  { env, signal }: CommandContext,
  output: Output,
): Promise<void> {
  const settings = await loadSettings(options, env);
  const peers = writablePeers(settings);
  const file = settings.file ?? defaultConfigFile;
  // The record of deployments may be in the folder itself. Published, it would change the address each time.
  const found = await publicationAt(folder, [...(options.ignore ?? []), '/antway.json'], output);
  const publication = key ? await signPublication(found, key, output, signal) : found;
  await requirePeers(peers, signal, output.isSilent);
  const { token } = settings;
  const upload = uploadTo(
    peers.map((peer) => new HttpWriter(peer)),
    token === undefined ? {} : { token },
  );
  const chunks: Address[] = [];
  const { address, size, uploadedBytes } = await publishTo(
    {
      store(chunk, either) {
        chunks.push(chunk.address);
        return upload.store(chunk, either);
      },
    },
    publication,
    output,
    signal,
  );
  const checks = await Promise.all(peers.map((peer) => checkChunks(peer, chunks, signal, () => undefined)));
  if (checks.some(({ right }) => right < chunks.length)) {
    for (const check of checks)
      output.note(`${check.peer}: ${check.right} of ${chunks.length} chunks are right`);
    requireAllRight(checks);
  }
  const former = settings.names.get(options.name);
  if (!former?.equals(address)) await record(file, options.name, folder, address, peers.map(String));
  const { files } = summaryOf(publication);
  const url = (options.gateway ?? peers[0]!.origin) + urlPathOf(address, publication);
  const changed = !former?.equals(address);
  output.json({
    address: address.hex,
    url,
    name: options.name,
    config: file,
    former: former?.hex ?? null,
    changed,
    files,
    size,
    chunks: chunks.length,
    uploadedBytes,
    peers: checks,
  });
  if (!output.isJson) printChecksAsNotes();
  output.note(
    changed
      ? `Deployed ${plural(files, 'file')}, ${formatBytes(size)}, as “${options.name}” in ${file}.`
      : `Nothing has changed: “${options.name}” has this address already.`,
  );
  output.line(address.hex);
  output.line(url);

  function printChecksAsNotes(): void {
    for (const { peer, right } of checks)
      output.note(`${peer}: ${right} of ${chunks.length} chunks are right`);
  }
}

/** Reads the file again, because it may have changed during the upload, and replaces it as a whole. */
async function record(
  file: string,
  name: string,
  folder: string,
  { hex }: Address,
  peers: readonly string[],
): Promise<void> {
  const config: ServerConfig = existsSync(file) ? await readConfig(file) : { peers: [...peers] };
  // Relative, because the file may be public, and the path of a home folder is private.
  const next: ServerConfig = {
    ...config,
    names: { ...config.names, [name]: hex },
    deployment: {
      name,
      address: hex,
      time: new Date().toISOString(),
      folder: relative(dirname(resolve(file)), resolve(folder)) || '.',
    },
  };
  await writeAtomically(file, [new TextEncoder().encode(`${JSON.stringify(next, null, 2)}\n`)]);
}
