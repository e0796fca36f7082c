import { printable, printableJson } from './format.ts';
import { writePart } from './write-output.ts';

export interface OutputOptions {
  json?: boolean;
  quiet?: boolean;
}

/**
 * The output of a command. Results go to standard output, and all other texts to standard error. With `--json`, the only
 * output is one JSON object or list, or an error. With `--quiet`, notes and progress are missing.
 */
export class Output {
  readonly isJson: boolean;
  readonly #isQuiet: boolean;

  constructor({ json = false, quiet = false }: OutputOptions) {
    this.isJson = json;
    this.#isQuiet = quiet;
  }

  /** Whether only results and errors are printed. */
  get isSilent(): boolean {
    return this.isJson || this.#isQuiet;
  }

  /** Progress is for users, so it appears on terminals only. */
  get showsProgress(): boolean {
    return !this.isSilent && process.stderr.isTTY === true;
  }

  /** Prints a line of the result, or nothing with `--json`. Security: escapes control characters. */
  line(text: string): void {
    if (!this.isJson) writePart(`${printable(text)}\n`);
  }

  /** Prints the result with `--json`, and nothing otherwise. */
  json(value: unknown): void {
    if (this.isJson) writePart(`${printableJson(JSON.stringify(value))}\n`);
  }

  /** Prints one line of information that is not a part of the result. */
  note(text: string): void {
    if (!this.isSilent) process.stderr.write(`${printable(text)}\n`);
  }
}
