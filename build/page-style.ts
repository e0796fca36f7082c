import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const source = (path: string) => readFileSync(new URL(`../src/${path}`, import.meta.url), 'utf8');
const tokensFile = 'shell/styles/tokens.css';
const token = /^\s*--([\w-]+):\s*([^;]+);/gm;

/** Provides `virtual:page-style`. The worker inlines this style, because the policy of its pages allows no requests. */
export function pageStyle(): Plugin {
  return {
    name: 'antway:page-style',
    resolveId: { filter: { id: /^virtual:page-style$/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0virtual:page-style$/ },
      handler: () => `export default ${JSON.stringify(styleWithTokens('gateway/pages/page.css'))};`,
    },
  };
}

/**
 * Returns a style sheet (`path` below `src`) on one line, with the values of the shell's tokens in place of their
 * names.
 * @throws Error if the sheet uses a token that does not exist.
 */
export function styleWithTokens(path: string): string {
  const tokens = source(tokensFile);
  const values = new Map(Array.from(tokens.matchAll(token), ([, name, value]) => [name!, value!]));
  const resolve = (css: string): string =>
    css.replace(/var\(--([\w-]+)\)/g, (_, name) => {
      const value = values.get(name);
      if (value === undefined) throw new Error(`${path} uses --${name}, which is not in ${tokensFile}.`);
      return resolve(value);
    });
  // The rest of the tokens' file follows the chosen theme.
  return minify(tokens.replace(token, '') + resolve(source(path)));
}

export function tokenColours(name: string): { light: string; dark: string } {
  const [, light, dark] = new RegExp(`--${name}: light-dark\\((\\S+), (\\S+)\\);`).exec(source(tokensFile))!;
  return { light: light!, dark: dark! };
}

function minify(css: string): string {
  return css
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?|(:) /g, '$1$2')
    .replace(/;}/g, '}')
    .replace(/(?<=[\s:,(-])0\./g, '.')
    .trim();
}
