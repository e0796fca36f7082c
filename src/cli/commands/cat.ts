import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { type OutputOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { type ReadOptions, readTarget } from '../read-target.ts';
import { UsageError } from '../usage-error.ts';
import { writeOutput } from '../write-output.ts';

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .argument('<content...>', 'addresses, links or names of files')
    .option(
      '--from <folder>',
      'read chunks from a folder that “publish --out” wrote, instead of asking peers',
    )
    .action(async (contents: string[], options: ReadOptions & OutputOptions) => {
      const { signal } = context;
      for (const content of contents) {
        await readTarget(content, options, new Output(options), context, async (opened) => {
          const source = opened.kind === 'file' ? opened.source : opened.zip;
          if (!source) {
            throw new UsageError(`“${content}” is a folder. Name a file in it; antway ls lists them.`);
          }
          await writeOutput(source.stream(0, source.size, signal), signal);
        });
      }
    });
}
