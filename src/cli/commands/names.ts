import { readFile } from 'node:fs/promises';
import { Argument, type Command } from 'commander';
import { AntwayError } from '../../errors.ts';
import type { LeftName } from '../../names/name-changes.ts';
import { type NameList, parseNameList } from '../../names/name-list.ts';
import type { CommandContext } from '../context.ts';
import { fileError } from '../disk-file.ts';
import { readNameList } from '../name-lists.ts';
import { type OutputOptions, type PeerOptions, withOutput, withPeers } from '../options.ts';
import { Output } from '../output.ts';
import { loadSettings } from '../settings.ts';
import { targetOf } from '../target.ts';

const actions = ['show', 'check'] as const;

export function define(command: Command, context: CommandContext): void {
  withOutput(withPeers(command))
    .addArgument(
      new Argument(
        '<action>',
        'show reads a list from the peers; check reads a file before it is published',
      ).choices(actions),
    )
    .argument('<list>', 'for show: the address, link or name of a list; for check: a file')
    .addHelpText(
      'after',
      `
A list gives names to addresses. Publish the file of a list, and lead a pointer to it:
  antway names check names.json
  antway publish names.json
  antway pointer update <address> --key names.key
With {"nameLists": {"club": "<pointer>"}} in the configuration file, <name>@club is the address of that name.`,
    )
    .action(async (action: (typeof actions)[number], list: string, options: PeerOptions & OutputOptions) => {
      const output = new Output(options);
      if (action === 'show') return print(await shown(list, options, output, context), output);
      const checked = await readFile(list).then(parseNameList, (error) => {
        throw fileError(error, list);
      });
      const [wrong] = checked.left;
      if (wrong) {
        throw new AntwayError('BAD_CONFIG', `“${list}”, “${wrong.name}”: ${wrong.reason}`, {
          key: wrong.name,
        });
      }
      print(checked, output);
    });
}

async function shown(
  list: string,
  options: PeerOptions,
  output: Output,
  { env, signal }: CommandContext,
): Promise<NameList & { left: LeftName[] }> {
  const settings = await loadSettings(options, env);
  const { address, peers } = await targetOf(list, settings, output.isSilent, signal);
  return readNameList(address, { peers }, output.isSilent, signal);
}

function print({ title, names, left }: NameList & { left: LeftName[] }, output: Output): void {
  output.json({ title, names, left });
  if (title) output.note(title);
  for (const [name, address] of Object.entries(names)) output.line(`${address}  ${name}`);
  for (const { name, reason } of left) output.note(`Left out: ${JSON.stringify(name)}. ${reason}`);
}
