import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { commands } from './commands.ts';
import type { CommandContext } from './context.ts';
import { UsageError } from './usage-error.ts';
import { writePart } from './write-output.ts';

const footer = `
Content is named by an address (64 hex digits, or 52 characters of base32), an address with a path, ant:// or
autonomi://, a name of antway.json or of a gateway, a gateway’s URL, or a link that Antway printed.

Exit codes: 0 done, 1 failed, 2 wrong command line or configuration, 3 not found, 4 unreachable, 5 damaged or different,
6 refused, 130 interrupted.`;

/**
 * Builds the parser. Only the named sub-commands are loaded, because loading all of them would slow every start down.
 * @param wanted names of sub-commands, or `all`.
 */
export async function createProgram(
  wanted: readonly string[] | 'all',
  context: CommandContext,
): Promise<Command> {
  const program = new Command('antway')
    .description('Publish to the Autonomi network’s peers, and read from them.')
    .version(packageJson.version, '-v, --version', 'print Antway’s version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', footer)
    .configureHelp({ showGlobalOptions: false, sortSubcommands: false })
    .configureOutput({ outputError: () => undefined, writeOut: writePart })
    .exitOverride();
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program
      .command(name)
      .summary(summary)
      .description(`${summary[0]!.toUpperCase()}${summary.slice(1)}.`);
    if (wanted === 'all' || wanted.includes(name)) (await load()).define(command, context);
  }
  return program;
}

/**
 * Parses the command line and runs the command.
 * @param args without the program's name.
 * @throws UsageError for an invalid command line; the errors of the command.
 */
export async function runProgram(args: readonly string[], context: CommandContext): Promise<void> {
  const words = args.filter((arg) => !arg.startsWith('-'));
  const program = await createProgram(words[0] === 'help' ? words.slice(1, 2) : words.slice(0, 1), context);
  if (args.length === 0) throw new UsageError('A command is missing.');
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // The parser ends with these errors after it has printed help or the version.
    if (error.exitCode === 0 || error.code === 'commander.help') return;
    throw new UsageError(error.message.replace(/^error: /, '').replace(/\n/g, ' '));
  }
}
