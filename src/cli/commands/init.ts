import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { AntwayError } from '../../errors.ts';
import { writeAtomically } from '../atomic-file.ts';
import { dropInFiles } from '../built-files.ts';
import type { CommandContext } from '../context.ts';
import { fileError } from '../disk-file.ts';
import { plural } from '../format.ts';
import { type OutputOptions, type PeerOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { loadSettings } from '../settings.ts';

interface InitOptions extends OutputOptions, PeerOptions {
  files?: string;
  force?: true;
}

/** The files that a site needs. The host may send the compressed copies. */
const needed = /^(antway\.js|antway-sw\.js|antway-(brotli|libsodium)-[\w-]+\.wasm)(\.br|\.gz)?$/;

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command, 'a peer that visitors use; may be given more than once'))
    .argument('[folder]', 'the folder of the site’s start page', '.')
    .option('--files <folder>', 'the built drop-in (default: the one of this command)')
    .option('--force', 'replace files that differ')
    .addHelpText(
      'after',
      `
Copies the script and the worker of Antway into a site, and prints the tag for its pages. Then ant://… works in pictures,
films, links, frames and style sheets of the site. It changes no page.`,
    )
    .action((folder: string, options: InitOptions) => init(folder, options, context));
}

async function init(folder: string, options: InitOptions, { env, signal }: CommandContext): Promise<void> {
  const output = new Output(options);
  const { peers } = await loadSettings(options, env);
  const from = dropInFiles(options.files);
  const names = (await readdir(from)).filter((name) => needed.test(name)).sort();
  await mkdir(folder, { recursive: true }).catch((error) => {
    throw fileError(error, folder);
  });
  const there = await readdir(folder);
  const written: string[] = [];
  for (const name of names) {
    if (!there.includes(name)) {
      written.push(name);
      continue;
    }
    const [ours, theirs] = await Promise.all([from, folder].map((place) => readFile(join(place, name))));
    if (ours!.equals(theirs!)) continue;
    if (!options.force) {
      throw new AntwayError(
        'REFUSED',
        `“${join(folder, name)}” is another version. To replace it, add --force.`,
      );
    }
    written.push(name);
  }
  for (const name of written) {
    signal.throwIfAborted();
    await writeAtomically(join(folder, name), createReadStream(join(from, name)));
  }
  // The names of these files contain hashes, so a new version leaves the former files in place.
  const former = there.filter((name) => needed.test(name) && !names.includes(name));
  const tag = `<script src="antway.js" data-peers="${peers.map(String).join(' ')}"></script>`;
  output.json({ folder, written, unchanged: names.length - written.length, former, tag });
  output.note(
    `${plural(written.length, 'file')} written to ${folder}, ${names.length - written.length} unchanged.`,
  );
  if (former.length > 0) output.note(`Of a former version, and not needed any more: ${former.join(', ')}`);
  output.note('Put this tag into the head of your pages:');
  output.line(tag);
}
