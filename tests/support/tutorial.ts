import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { fromRoot } from './paths.ts';

/** The code of a tutorial in its order, without the indentation of list items. */
export function codeOf(tutorial: string, language: 'sh' | 'html' | 'text'): string[] {
  const text = readFileSync(fromRoot(`docs/tutorials/${tutorial}.md`), 'utf8');
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'));
  return Array.from(blocks, ([, indent, code]) => code!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** A program that a command of a tutorial started, and which runs until the reader stops it. */
export interface Running {
  /** Waits for this in the program's output. @throws Error with the output if the program ends before. */
  said(words: RegExp): Promise<RegExpExecArray>;
  /** Sends what Ctrl-C sends, and waits for the end of the program. */
  stop(): Promise<void>;
}

/** A question of a program at a terminal, and what the reader types. */
export type TerminalAnswer = readonly [question: RegExp, answer: string];

/** A reader of tutorials. Runs their commands in a new folder, so that what they create is not in the project. */
export class Reader {
  readonly folder = mkdtempSync(join(tmpdir(), 'antway-tutorial-'));
  readonly #running: Running[] = [];
  readonly #env: NodeJS.ProcessEnv = { ...process.env };

  /** A reader whose folder links to the files of the project, and to those that were built. */
  static inLinkedProject(): Reader {
    const reader = new Reader();
    for (const name of readdirSync(fromRoot('.'))) {
      if (!name.startsWith('.')) symlinkSync(fromRoot(name), join(reader.folder, name));
    }
    return reader;
  }

  /** A reader with a copy of the project's own files. */
  static inClone(): Reader {
    const reader = new Reader();
    const listed = execFileSync('git', ['ls-files', '-z'], { cwd: fromRoot('.'), encoding: 'utf8' });
    for (const path of listed.split('\0').filter(Boolean)) cpSync(fromRoot(path), join(reader.folder, path));
    return reader;
  }

  private constructor() {}

  set(variables: NodeJS.ProcessEnv): void {
    Object.assign(this.#env, variables);
  }

  /** Runs a command to its end. @returns what it prints. @throws Error with its errors if it fails. */
  async run(command: string): Promise<string> {
    const child = this.#spawn('sh', ['-e', '-c', command], 'ignore');
    const output = { stdout: '', stderr: '' };
    child.stdout!.setEncoding('utf8').on('data', (text) => (output.stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text) => (output.stderr += text));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${command}\nended with ${code}: ${output.stderr}`);
    return output.stdout;
  }

  /**
   * Runs a command at a terminal to its end, and answers its questions in their order.
   * @returns what the terminal shows. @throws Error with that if the command fails, or does not ask.
   */
  async answer(command: string, answers: readonly TerminalAnswer[]): Promise<string> {
    const flags = ['--quiet', '--return', '--flush', '--command', command, '/dev/null'];
    const child = this.#spawn('script', flags, 'pipe');
    let shown = '';
    const open = [...answers];
    child.stdout!.setEncoding('utf8').on('data', (text) => {
      shown += text;
      if (!open[0]?.[0].test(stripVTControlCharacters(shown))) return;
      child.stdin!.write(`${open.shift()![1]}\n`);
    });
    const [code] = await once(child, 'close');
    const text = stripVTControlCharacters(shown).replaceAll('\r', '');
    if (code !== 0 || open.length > 0) throw new Error(`${command}\nended with ${code}: ${text}`);
    return text;
  }

  /** Starts a command that runs until it is stopped. */
  start(command: string): Running {
    const child = this.#spawn('sh', ['-c', `exec ${command}`], 'ignore');
    let output = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    }
    const closed = once(child, 'close');
    const running: Running = {
      async said(words) {
        for (;;) {
          const match = words.exec(output);
          if (match) return match;
          if (child.exitCode !== null) throw new Error(`${command}\nended: ${output}`);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
      async stop() {
        // A terminal sends the signal to all programs of the command.
        if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGINT');
        await closed;
      },
    };
    this.#running.push(running);
    return running;
  }

  #spawn(program: string, args: string[], stdin: 'ignore' | 'pipe'): ChildProcess {
    return spawn(program, args, {
      cwd: this.folder,
      env: this.#env,
      stdio: [stdin, 'pipe', 'pipe'],
      detached: true,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((running) => running.stop()));
    rmSync(this.folder, { recursive: true });
  }
}
