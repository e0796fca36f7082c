import { Argument, type Command } from 'commander';
import { completionScript, shells } from '../completion-script.ts';
import type { CommandContext } from '../context.ts';
import { createProgram } from '../program.ts';
import { writePart } from '../write-output.ts';

export function define(command: Command, context: CommandContext): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      `
bash: antway completion bash > ~/.local/share/bash-completion/completions/antway
zsh:  antway completion zsh > a file “_antway” in a folder of $fpath
fish: antway completion fish > ~/.config/fish/completions/antway.fish`,
    )
    .action(async (shell: (typeof shells)[number]) => {
      writePart(completionScript(await createProgram('all', context), shell));
    });
}
