import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkIds, withoutAddresses } from '../../src/site-pages/self-test/report.ts';
import { selfTestTexts } from '../../src/site-pages/self-test/texts.ts';
import { fromRoot } from '../support/paths.ts';

const address = 'd596a831626a83824acfcb6ebf55f9aefc01f8c939bd87e026d2246091b7cc8e';

it.each([
  ['No WebTransport session with https://peer.example:4433/wt.', 'No WebTransport session with <URL>'],
  [`The chunk ${address} is missing.`, 'The chunk <address> is missing.'],
  [`ant://${address}/a, “http://[::1]:1/”, anttp+https://a.example;`, '<URL>, “<URL>”, <URL>;'],
  ['Nothing to hide: 12 ms.', 'Nothing to hide: 12 ms.'],
])('a report contains no address: %s', (message, shown) => {
  expect(withoutAddresses(message)).toBe(shown);
});

it('the reference describes every check and every fact of the report', () => {
  const reference = readFileSync(fromRoot('docs/reference/browsers.md'), 'utf8');
  const names = [...checkIds, ...Object.keys(selfTestTexts.en.facts)];
  expect(names.filter((name) => !reference.includes(`\`${name}\``))).toEqual([]);
});

it('every language names the same facts', () => {
  for (const { facts } of Object.values(selfTestTexts)) {
    expect(Object.keys(facts)).toEqual(Object.keys(selfTestTexts.en.facts));
  }
});
