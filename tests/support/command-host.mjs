// Runs the built command again and again in one process: see `cli-process.ts`.
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const script = pathToFileURL(process.argv[2]).href;
const ownSignals = { SIGINT: process.listeners('SIGINT'), SIGTERM: process.listeners('SIGTERM') };
let runs = 0;

// Connections of a command may still be open.
process.on('disconnect', () => process.exit());

process.on('message', async ({ args, cwd, env, input }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, process.argv[1], ...args];
  process.exitCode = undefined;
  const output = { stdout: [], stderr: [] };
  replace('stdin', Readable.from([Buffer.from(input)], { objectMode: false }));
  replace('stdout', collector(output.stdout));
  replace('stderr', collector(output.stderr));
  // A module with another query is another module: this evaluates the command's script, and none of its imports, again.
  await import(`${script}?run=${++runs}`);
  const code = process.exitCode ?? 0;
  for (const [signal, own] of Object.entries(ownSignals)) {
    for (const listener of process.listeners(signal)) {
      if (!own.includes(listener)) process.removeListener(signal, listener);
    }
  }
  const [stdout, stderr] = Object.values(output).map((pieces) => Buffer.concat(pieces));
  process.exitCode = undefined;
  process.send({ code, stdout, stderr });
});

function replace(name, stream) {
  Object.defineProperty(process, name, { value: stream, configurable: true });
}

function collector(pieces) {
  return new Writable({
    write(piece, _, done) {
      pieces.push(piece);
      done();
    },
  });
}
