import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CommandContext } from './context.ts';
import { UsageError } from './usage-error.ts';

/** The passphrases that the command asks for, and their variables. */
const variables = { key: 'ANTWAY_KEY_PASSPHRASE', keystore: 'ANTWAY_KEYSTORE_PASSPHRASE' } as const;

/**
 * The passphrase of the key of a pointer, or of the keystore of an account: the variable, or what the user types at the
 * terminal, which does not show it.
 * @param isNew whether the user has to type it twice.
 * @throws UsageError if there is neither, or if the two differ.
 */
export async function readPassphrase(
  { env, signal }: CommandContext,
  isNew: boolean,
  what: keyof typeof variables = 'key',
): Promise<string> {
  const variable = variables[what];
  const value = env[variable];
  if (value) return value;
  if (!isTerminal()) {
    throw new UsageError(`The ${what} needs its passphrase: set ${variable}, or use a terminal.`);
  }
  const question = `${isNew ? 'New passphrase' : 'Passphrase'} of the ${what}: `;
  const passphrase = await askSecret(question, signal);
  if (isNew && passphrase !== (await askSecret('The same passphrase again: ', signal))) {
    throw new UsageError('The two passphrases differ.');
  }
  return passphrase;
}

/**
 * The recovery phrase: the whole standard input, or what the user types at the terminal, which does not show it.
 * @throws UsageError if the terminal would show it.
 */
export async function readPhrase({ signal }: CommandContext): Promise<string> {
  if (process.stdin.isTTY && !isTerminal()) {
    throw new UsageError('The terminal would show the recovery phrase. Do not redirect the standard error.');
  }
  return isTerminal() ? askSecret('Recovery phrase, 24 words: ', signal) : text(process.stdin);
}

/** Asks a question that only “yes” answers with yes. @returns false without a terminal. */
export async function confirms(question: string, signal: AbortSignal): Promise<boolean> {
  if (!isTerminal()) return false;
  const answer = await ask(`${question} Type “yes”: `, process.stderr, signal);
  return answer.trim().toLowerCase() === 'yes';
}

function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  process.stderr.write(question);
  // `readline` echoes what the user types to its output. The echo ends here.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await ask('', nowhere, signal);
  } finally {
    process.stderr.write('\n');
  }
}

/** @throws UsageError after Ctrl-D; the reason of the signal after Ctrl-C, which `readline` keeps from the process. */
async function ask(question: string, output: NodeJS.WritableStream, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const closed = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new UsageError('The question was not answered.')));
  });
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await Promise.race([lines.question(question, { signal }), closed]);
  } finally {
    lines.close();
  }
}
