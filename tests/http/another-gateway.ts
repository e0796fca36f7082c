import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChunkSink } from '../support/publish.ts';
import { cases } from './cases.ts';
import { renderDocument } from './document.ts';
import { runCases } from './exchange.ts';
import { publishFixtures } from './fixtures.ts';
import { overHttp } from './over-http.ts';

const nowhere: ChunkSink = { put: async () => undefined };

/** Writes every chunk and data map of the fixtures to `<folder>/chunks/<address>`. */
export async function writeFixtures(folder: string): Promise<void> {
  const chunks = join(folder, 'chunks');
  mkdirSync(chunks, { recursive: true });
  const fixtures = await publishFixtures({
    put: async (address, bytes) => writeFileSync(join(chunks, address), bytes),
  });
  writeFileSync(join(folder, 'addresses.json'), `${JSON.stringify(fixtures, undefined, 2)}\n`);
}

/**
 * Asks a gateway on a port the cases that are not Antway's own, and prints what differs.
 * @param table file for the table with the gateway's column, if it is wanted.
 * @returns whether all hold.
 */
export async function askGateway(base: string, title: string, table?: string): Promise<boolean> {
  const fixtures = await publishFixtures(nowhere);
  const asked = cases.filter(({ isOwn }) => !isOwn);
  const results = await runCases(asked, fixtures, overHttp(base));
  for (const { case: each, differences } of results) {
    if (differences.length > 0) console.log(`${each.group}: ${each.name}: ${differences.join('; ')}`);
  }
  const failed = results.filter(({ differences }) => differences.length > 0).length;
  console.log(`${results.length - failed} of ${results.length} cases hold at ${base}.`);
  if (table) {
    writeFileSync(table, renderDocument(`# HTTP, case by case, at ${title}`, cases, [{ title, results }]));
  }
  return failed === 0;
}
