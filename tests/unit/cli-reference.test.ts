import { readFileSync, writeFileSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { fromRoot } from '../support/paths.ts';

const document = fromRoot('docs/reference/cli.md');
const [begin, end] = ['<!-- begin of the generated part -->\n', '<!-- end of the generated part -->\n'];

function sectionOf(command: Command): string {
  const help = command.createHelp();
  const rows = [
    ...command.registeredArguments.map((argument) => {
      const shown = `${argument.name()}${argument.variadic ? '…' : ''}`;
      return [`\`${argument.required ? `<${shown}>` : `[${shown}]`}\``, help.argumentDescription(argument)];
    }),
    ...help.visibleOptions(command).map((option) => [flagsOf(option), help.optionDescription(option)]),
  ];
  const table = rows.map((cells) => `| ${cells.map((cell) => cell!.replaceAll('|', '\\|')).join(' | ')} |`);
  return `### \`antway ${command.name()}\`\n\n${command.description()}\n\n| argument, option | meaning |\n| --- | --- |\n${table.join('\n')}\n`;
}

const flagsOf = ({ flags }: Option) => `\`${flags}\``;

it('the reference lists the arguments and options that the parser has', async () => {
  const context = { env: {}, signal: new AbortController().signal };
  const program = await createProgram('all', context);
  const generated = program.commands
    .filter((command) => command.name() !== 'help')
    .map(sectionOf)
    .join('\n');
  const text = readFileSync(document, 'utf8');
  const [before, rest = ''] = text.split(begin);
  const [current, after] = rest.split(end);
  if (process.env.UPDATE_DOCS) writeFileSync(document, `${before}${begin}\n${generated}\n${end}${after}`);
  else expect(current, 'UPDATE_DOCS=1 npx vitest run tests/unit/cli-reference').toBe(`\n${generated}\n`);
});
