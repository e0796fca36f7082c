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
export async function expectAccessible(
  page: Page,
  { what = '', schemes = [], ...part }: Audit = {},
): Promise<void> {
  if (schemes.length === 0) expect(await violationsIn(page, part), what).toEqual([]);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const only = colorScheme === schemes[0] ? undefined : colourRules;
    expect(await violationsIn(page, part, only), `${what} ${colorScheme}`).toEqual([]);
  }
}

/**
 * Audits a page, or a part of it, as it is.
 * @param only the rules to apply. Default: all that axe applies, and one more.
 * @returns the rule of each violation, with the elements and what is wrong with them.
 */
export async function violationsIn(
  page: Page,
  { include, exclude }: Pick<Audit, 'include' | 'exclude'>,
  only?: string[],
): Promise<{ rule: string; elements: { html: string; problem: string | undefined }[] }[]> {
  // An experimental rule, off by default: users of voice control say the label that they see.
  const rules = { 'label-content-name-mismatch': { enabled: true } };
  const options = only ? { runOnly: { type: 'rule' as const, values: only } } : { rules };
  // The default mode opens a page for each result. Only frames of other origins need it.
  const builder = new AxeBuilder({ page }).setLegacyMode().options(options);
  if (include) builder.include(include);
  if (exclude) builder.exclude(exclude);
  const { violations } = await builder.analyze();
  return violations.map(({ id, nodes }) => ({
    rule: id,
    elements: nodes.map(({ html, failureSummary }) => ({ html, problem: failureSummary })),
  }));
}
