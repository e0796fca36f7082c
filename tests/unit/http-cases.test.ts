// @module-tag isolated
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { cases } from '../http/cases.ts';
import { documentPath, ownDocument } from '../http/document.ts';
import { type Result, runCases } from '../http/exchange.ts';
import { type Fixtures, pointerRecord, publishFixtures } from '../http/fixtures.ts';
import type { Records } from './support/encrypted-file.ts';
import { contextOf, inProcess, requestOf, startGateway } from './support/gateway.ts';

/** All cases are asked of one gateway, in their order; each is then a test of its own. */
const origin = 'http://127.0.0.1:8080';
let results: Result[] = [];

beforeAll(async () => {
  const records: Records = new Map();
  const fixtures: Fixtures = await publishFixtures({
    put: async (address, bytes) => void records.set(address, new Uint8Array(bytes)),
  });
  const gateway = startGateway(deploymentAt(origin), {
    config: {
      names: { 'docs.site': fixtures.site, bare: fixtures.bare, letters: fixtures.file },
      trusted: [fixtures.trusted, fixtures.linked],
      denied: [fixtures.denied],
    },
    records,
    pointers: new Map([[fixtures.pointer, new Uint8Array(pointerRecord(fixtures))]]),
  });
  const decision = { address: fixtures.site, decision: 'restricted' };
  const deciding = requestOf(
    `${origin}/-/trust`,
    { method: 'POST', body: JSON.stringify(decision) },
    'fetch',
  );
  expect((await gateway.handle(deciding, contextOf(origin)))?.status).toBe(204);
  results = await runCases(cases, fixtures, inProcess(gateway, origin));
  gateway.close();
}, 180_000);

test.each(cases.map(({ group, name }, i) => [`${group}: ${name}`, i] as const))('%s', (_, i) => {
  expect(results[i]!.differences).toEqual([]);
});

test('docs/reference/http-cases.md matches this run (UPDATE_DOCS=1 writes it)', () => {
  const text = ownDocument(results);
  if (process.env.UPDATE_DOCS) writeFileSync(documentPath, text);
  expect(readFileSync(documentPath, 'utf8')).toBe(text);
});
