import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CommandContext } from './context.ts';
import { UsageError } from './usage-error.ts';

/**
 * The passphrase of a key file: `ANTWAY_KEY_PASSPHRASE`, or what the user types at the terminal, which does not show it.
 * @param isNew whether the user has to type it twice.
 * @throws UsageError if there is neither, or if the two differ.
 */
export async function readPassphrase({ env, signal }: CommandContext, isNew: boolean): Promise<string> {
  const variable = env.ANTWAY_KEY_PASSPHRASE;
  if (variable) return variable;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError('The key needs its passphrase: set ANTWAY_KEY_PASSPHRASE, or use a terminal.');
  }
  const passphrase = await askSecret(
    isNew ? 'New passphrase of the key: ' : 'Passphrase of the key: ',
    signal,
  );
  if (isNew && passphrase !== (await askSecret('The same passphrase again: ', signal))) {
    throw new UsageError('The two passphrases differ.');
  }
  return passphrase;
}

/** The recovery phrase: the whole standard input, or what the user types at the terminal, which does not show it. */
export async function readPhrase({ signal }: CommandContext): Promise<string> {
  return process.stdin.isTTY ? askSecret('Recovery phrase, 24 words: ', signal) : text(process.stdin);
}

/** Asks a question that only “yes” answers with yes. @returns false without a terminal. */
export async function confirms(question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(`${question} Type “yes”: `, { signal })).trim().toLowerCase() === 'yes';
  } finally {
    lines.close();
  }
}

async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  process.stderr.write(question);
  // The interface echoes typed characters to its output. They end here.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await lines.question('', { signal });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
