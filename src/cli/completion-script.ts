import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;

interface Completion {
  name: string;
  summary: string;
  options: { flags: string[]; description: string; takesValue: boolean }[];
  /** The possible values of the arguments. Empty if there can be others. */
  choices: readonly string[];
}

/** Returns a script that completes the sub-commands and options of a program, and file names. */
export function completionScript(program: Command, shell: (typeof shells)[number]): string {
  const commands = program.commands.map(completionOf);
  if (shell === 'bash') return bash(commands);
  return shell === 'zsh' ? zsh(commands) : fish(commands);
}

function completionOf(command: Command): Completion {
  return {
    name: command.name(),
    summary: command.summary(),
    options: command.createHelp().visibleOptions(command).map(optionOf),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  };
}

function optionOf({ short, long, description, required, optional }: Option): Completion['options'][number] {
  const flags = [short, long].filter((flag) => flag !== undefined && flag !== null);
  return { flags, description, takesValue: required || optional };
}

function bash(commands: readonly Completion[]): string {
  const cases = commands.map(
    ({ name, options, choices }) =>
      `    ${name}) options='${[...options.flatMap(({ flags }) => flags), ...choices].join(' ')}' ;;`,
  );
  return `# Completion of antway for bash.
_antway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" options=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '${commands.map(({ name }) => name).join(' ')} help --help --version' -- "$current")
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  if [[ "$current" == -* || "\${COMP_WORDS[1]}" == completion ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _antway antway
`;
}

function zsh(commands: readonly Completion[]): string {
  const names = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  const cases = commands.map(({ name, options }) => {
    const lines = options.flatMap(({ flags, description, takesValue }) =>
      flags.map((flag) =>
        quoted(`*${flag}[${description.replace(/[[\]:\\]/g, ' ')}]${takesValue ? ':value:_files' : ''}`),
      ),
    );
    return `    ${name}) _arguments ${[...lines, quoted('*:file:_files')].join(' ')} ;;`;
  });
  return `#compdef antway
# Completion of antway for zsh.
_antway() {
  local -a commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join('\n')}
  esac
}
compdef _antway antway
`;
}

function fish(commands: readonly Completion[]): string {
  const lines = commands.flatMap(({ name, summary, options, choices }) => [
    `complete -c antway -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...choices.map((choice) => `complete -c antway -n '__fish_seen_subcommand_from ${name}' -f -a ${choice}`),
    ...options.map(({ flags, description, takesValue }) => {
      const forms = flags.map((flag) =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      return `complete -c antway -n '__fish_seen_subcommand_from ${name}' ${forms.join(' ')}${takesValue ? ' -r' : ''} -d ${quoted(description)}`;
    }),
  ]);
  return `# Completion of antway for fish.\n${lines.join('\n')}\n`;
}

/** In single quotes, as all three shells read them. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`;
}
