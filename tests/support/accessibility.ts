import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

type Scheme = 'light' | 'dark';

/** The part of a page, and the schemes in which axe looks at it. */
interface Audit {
  /** Names the page in a failure. */
  what?: string;
  /** A selector of the only part to look at. */
  include?: string;
  /** A selector of a part that is left out, such as content of strangers. */
  exclude?: string;
  /** The colour schemes to set; without them, the page is looked at as it is. */
  schemes?: readonly Scheme[];
}

/** The rules whose result the colour scheme can change. */
const colourRules = ['color-contrast', 'link-in-text-block'];

/** Expects that axe finds no violation. */
export async function expectAccessible(page: Page, { schemes = [], ...audit }: Audit = {}): Promise<void> {
  if (schemes.length === 0) return expectNoViolation(page, audit);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const what = `${audit.what ?? ''} ${colorScheme}`;
    await expectNoViolation(page, { ...audit, what }, colorScheme === schemes[0] ? undefined : colourRules);
  }
}

async function expectNoViolation(
  page: Page,
  { what, include, exclude }: Audit,
  only?: string[],
): Promise<void> {
  // An experimental rule, off by default: users of voice control say the label that they see.
  const rules = { 'label-content-name-mismatch': { enabled: true } };
  const options = only ? { runOnly: { type: 'rule' as const, values: only } } : { rules };
  // The other mode opens a page for each result. It is for frames of other origins.
  const builder = new AxeBuilder({ page }).setLegacyMode().options(options);
  if (include) builder.include(include);
  if (exclude) builder.exclude(exclude);
  const { violations } = await builder.analyze();
  const found = violations.map(({ id, nodes }) => [
    id,
    nodes.map(({ html, failureSummary }) => [html, failureSummary]),
  ]);
  expect(found, what).toEqual([]);
}
