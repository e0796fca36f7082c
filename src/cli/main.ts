#!/usr/bin/env node
import { type AntwayError, asAntwayError } from '../errors.ts';
import { commands } from './commands.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { printable, printableJson } from './format.ts';
import { resolveLocalhostNames } from './localhost.ts';
import { runProgram } from './program.ts';
import { takeEnvironment } from './secret-variables.mjs';
import { suggestion } from './suggestion.ts';
import { UsageError } from './usage-error.ts';
import { outputEnded, outputError } from './write-output.ts';

/** @returns the exit code. */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // The first signal aborts the command, which removes partial files. A second signal kills the process.
    process.once(signal, () => interrupt.abort());
  }
  let outputFailure: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error) => {
    outputFailure ??= error;
    interrupt.abort();
  });
  // Nothing can be said about that.
  process.stderr.on('error', () => undefined);
  const isJson = args.includes('--json');
  try {
    await runProgram(args, { env, signal: interrupt.signal });
    await outputEnded();
    if (!outputFailure) return exitCodes.done;
    throw outputFailure;
  } catch (error) {
    if (error instanceof UsageError) {
      reportUsage(error, args, isJson);
      return exitCodes.usage;
    }
    // The reader has closed the pipe, as in `antway get … | head`. That is not an error.
    if (outputFailure?.code === 'EPIPE') return exitCodes.done;
    if (interrupt.signal.aborted && !outputFailure) return exitCodes.interrupted;
    const failure = outputFailure ? outputError(outputFailure) : asAntwayError(error);
    report(failure, isJson);
    return exitCodeOf(failure.code);
  }
}

function reportUsage({ message }: UsageError, args: readonly string[], isJson: boolean): void {
  const [command = ''] = args;
  if (isJson) {
    process.stderr.write(`${printableJson(JSON.stringify({ code: 'USAGE', message, details: {} }))}\n`);
    return;
  }
  const help = Object.hasOwn(commands, command) ? `antway ${command} --help` : 'antway --help';
  process.stderr.write(`USAGE: ${printable(message)}\nSee ${help}.\n`);
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
  if (isSilence(error)) process.stderr.write(`${suggestion}\n`);
}

/** Whether no peer gave any answer. A peer that answered with a failure runs. */
function isSilence({ code, details }: AntwayError): boolean {
  const { attempts = [] } = details;
  const gaveAnswer =
    details.answered || attempts.some(({ answered, code }) => answered || code === 'NOT_FOUND');
  return code === 'PEERS_UNREACHABLE' && !gaveAnswer && details.payment === undefined;
}

resolveLocalhostNames();
process.exitCode = await main(process.argv.slice(2), takeEnvironment());
