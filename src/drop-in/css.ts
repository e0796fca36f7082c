import { mapUrls } from './content-uri.ts';
import { page } from './dom.ts';

/** Returns the new URL, or undefined for a URL that stays unchanged. */
type MapUrl = (url: string) => string | undefined;

/** Visits all readable style sheets and their imports. A sheet of another origin or a loading sheet is not readable. */
export function visitSheets(
  sheets: Iterable<CSSStyleSheet>,
  visit: (sheet: CSSStyleSheet, base: string) => void,
): void {
  for (const sheet of sheets) {
    const rules = readableRules(sheet);
    if (!rules) continue;
    for (const rule of rules) {
      // Import rules come first. Only layer names may stand between them.
      if (rule instanceof CSSImportRule) visitSheets(rule.styleSheet ? [rule.styleSheet] : [], visit);
      else if ('style' in rule || 'cssRules' in rule) break;
    }
    // Visit the imported sheets first. Chromium ignores a change in an imported sheet that directly follows a change
    // in the importing sheet.
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

export function rewriteRules(rules: CSSRuleList, map: MapUrl): void {
  for (const rule of rules) {
    const { style, cssRules } = rule as CSSStyleRule;
    if (style) rewriteStyle(style, map);
    if (cssRules) rewriteRules(cssRules, map);
  }
}

/** Changes single properties, because a policy against inline styles also forbids changes of the attribute. */
export function rewriteStyle(style: CSSStyleDeclaration, map: MapUrl): void {
  if (!/url\(/i.test(style.cssText)) return;
  for (let name of [...style]) {
    // If a shorthand contains a variable, its longhands have no values: try `background-position-x`, … `background`.
    while (!style.getPropertyValue(name) && name.includes('-', 2)) name = name.replace(/-[^-]*$/, '');
    let isMapped = false;
    const value = mapUrls(style.getPropertyValue(name), 'css', (url) => {
      const to = map(url);
      isMapped ||= to !== undefined;
      return to;
    });
    if (!isMapped) continue;
    const priority = style.getPropertyPriority(name);
    // The browser does not reload the URL if the same value is set again. Remove the property first.
    style.removeProperty(name);
    style.setProperty(name, value, priority);
  }
}
