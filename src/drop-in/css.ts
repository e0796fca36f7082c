import { mapUrls } from './content-uri.ts';
import { page } from './dom.ts';

/** Gives undefined for a URL that stays. */
type MapUrl = (url: string) => string | undefined;

/**
 * Visits the sheets that this page may read, and those that they import. Others are of other origins, whose owners did
 * not mean this site; or not loaded yet.
 *
 * @param visit is told what relative URLs in the sheet are relative to.
 */
export function visitSheets(
  sheets: Iterable<CSSStyleSheet>,
  visit: (sheet: CSSStyleSheet, base: string) => void,
): void {
  for (const sheet of sheets) {
    const rules = readableRules(sheet);
    if (!rules) continue;
    for (const rule of rules) {
      // What imports stands first, with nothing between but names of layers.
      if (rule instanceof CSSImportRule) visitSheets(rule.styleSheet ? [rule.styleSheet] : [], visit);
      else if ('style' in rule || 'cssRules' in rule) break;
    }
    // After those: Chromium does not apply a change in an imported sheet that comes right after one in its importer.
    visit(sheet, sheet.href ?? page.baseURI);
  }
}

function readableRules(sheet: CSSStyleSheet): CSSRuleList | undefined {
  try {
    return sheet.cssRules;
  } catch {
    return undefined;
  }
}

/** Replaces URLs in rules and in those inside them. */
export function rewriteRules(rules: CSSRuleList, map: MapUrl): void {
  for (const rule of rules) {
    const { style, cssRules } = rule as CSSStyleRule;
    if (style) rewriteStyle(style, map);
    if (cssRules) rewriteRules(cssRules, map);
  }
}

/** By property: a policy that forbids inline styles forbids to set the attribute. */
export function rewriteStyle(style: CSSStyleDeclaration, map: MapUrl): void {
  if (!/url\(/i.test(style.cssText)) return;
  for (let name of [...style]) {
    // The parts of a shorthand with a variable in it have no values: `background-position-x`, … `background`.
    while (!style.getPropertyValue(name) && name.includes('-', 2)) name = name.replace(/-[^-]*$/, '');
    let isMapped = false;
    const value = mapUrls(style.getPropertyValue(name), 'css', (url) => {
      const to = map(url);
      isMapped ||= to !== undefined;
      return to;
    });
    if (!isMapped) continue;
    const priority = style.getPropertyPriority(name);
    // The same value again would load nothing again.
    style.removeProperty(name);
    style.setProperty(name, value, priority);
  }
}
