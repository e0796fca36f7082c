// Asks the cases of docs/reference/http-cases.md of any gateway on a port, or writes the fixtures that it must hold for that.
// Plain JavaScript that loads the rest by Vite: Node does not read TypeScript in every version that is supported.
import { parseArgs } from 'node:util';
import { createServer } from 'vite';

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    title: { type: 'string', default: 'other' },
    table: { type: 'string' },
    fixtures: { type: 'string' },
  },
});

const vite = await createServer({
  configFile: false,
  server: { middlewareMode: true, ws: false, watch: null },
  appType: 'custom',
  logLevel: 'error',
});
try {
  const { askGateway, writeFixtures } = await vite.ssrLoadModule('/tests/http/another-gateway.ts');
  if (values.fixtures) await writeFixtures(values.fixtures);
  const base = values.base ?? process.env.ANTWAY_HTTP_BASE;
  if (base) process.exitCode = (await askGateway(base, values.title, values.table)) ? 0 : 1;
  if (!values.fixtures && !base) {
    console.error(
      'Usage: node tests/http/run.mjs [--fixtures FOLDER] [--base URL [--title NAME] [--table FILE]]',
    );
    process.exitCode = 2;
  }
} finally {
  await vite.close();
}
