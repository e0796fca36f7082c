#!/usr/bin/env node
import packageJson from '../../package.json' with { type: 'json' };
import { type AntwayError, asAntwayError } from '../errors.ts';
import { type Arguments, parseArguments, UsageError } from './arguments.ts';
import { printable, printableJson } from './format.ts';
import { getCommand } from './get-command.ts';
import { resolveLocalhostNames } from './localhost.ts';
import { publishCommand } from './publish-command.ts';
import { usage } from './usage.ts';
import { verifyCommand } from './verify-command.ts';

const exitCodes = { failure: 1, usage: 2, interrupted: 130 };

async function run(command: Arguments, signal: AbortSignal): Promise<void> {
  switch (command.command) {
    case 'publish':
      return publishCommand(command, signal);
    case 'get':
      return getCommand(command, signal);
    case 'verify':
      return verifyCommand(command, signal);
    case 'help':
      process.stdout.write(usage);
      return;
    case 'version':
      process.stdout.write(`${packageJson.version}\n`);
  }
}

/** @returns the exit code. */
async function main(): Promise<number> {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // The first signal aborts the command, which removes partial files. A second signal kills the process.
    process.once(signal, () => interrupt.abort());
  }
  // The reader of standard output has closed the pipe, as in `antway get … | head`.
  process.stdout.on('error', () => interrupt.abort());

  let isJson = false;
  try {
    const command = parseArguments(process.argv.slice(2), process.env);
    isJson = 'json' in command && command.json;
    await run(command, interrupt.signal);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`USAGE: ${printable(error.message)}\nSee antway --help.\n`);
      return exitCodes.usage;
    }
    if (interrupt.signal.aborted) return exitCodes.interrupted;
    report(asAntwayError(error), isJson);
    return exitCodes.failure;
  }
}

function report(error: AntwayError, isJson: boolean): void {
  if (isJson) {
    process.stderr.write(`${printableJson(JSON.stringify(error))}\n`);
    return;
  }
  process.stderr.write(`${error.code}: ${printable(error.message)}\n`);
  for (const { peer, stage, code, message } of error.details.attempts ?? []) {
    process.stderr.write(`  ${peer}, ${stage}: ${code}: ${printable(message)}\n`);
  }
}

resolveLocalhostNames();
process.exitCode = await main();
