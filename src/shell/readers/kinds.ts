import { typeOfName } from '../../gateway/http/content-type.ts';

/** The readers of files. */
export type ReaderKind = 'markdown' | 'table' | 'json' | 'code' | 'picture' | 'media';

/** The readers that show text. Each of them can show any text. */
export const textKinds = ['markdown', 'table', 'json', 'code'] as const satisfies readonly ReaderKind[];
export type TextKind = (typeof textKinds)[number];

/** Types with text, whose names do not begin with `text/`. */
const textual =
  /^application\/(?:(?:.+\+)?(?:xml|json)|javascript|x-sh|sql|toml|yaml|x-httpd-php)\b|^image\/svg\+xml\b/;

/** Names of text files without a known extension. */
const textNames =
  /(?:^|\/)(?:readme|licen[cs]e|copying|authors|changelog|notice|makefile|dockerfile|\.gitignore|\.editorconfig)$|\.(?:ts|tsx|jsx|rs|go|py|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|pl|lua|r|sh|bash|zsh|sql|toml|yaml|yml|ini|cfg|conf|env|diff|patch|log|tex|scss|less|vue|svelte|wgsl|glsl|proto|gradle|properties|srt|vtt)$/i;

/** @returns the reader for a file by its name, or undefined if the name does not tell. */
export function kindOfName(name: string): ReaderKind | undefined {
  if (/\.(?:md|markdown|mdown|mkd)$/i.test(name)) return 'markdown';
  if (/\.(?:csv|tsv|tab)$/i.test(name)) return 'table';
  if (/\.(?:json|geojson|jsonld|webmanifest|ipynb)$/i.test(name)) return 'json';
  if (textNames.test(name)) return 'code';
  const type = typeOfName(name);
  return type ? kindOfType(type) : undefined;
}

/** @param type a media type, with or without parameters. */
export function kindOfType(type: string): ReaderKind | undefined {
  if (/^text\/markdown\b/.test(type)) return 'markdown';
  if (/^text\/(?:csv|tab-separated-values)\b/.test(type)) return 'table';
  if (/^application\/(?:.+\+)?json\b/.test(type)) return 'json';
  if (/^image\//.test(type)) return 'picture';
  if (/^(?:audio|video)\//.test(type)) return 'media';
  return type.startsWith('text/') || textual.test(type) ? 'code' : undefined;
}

/** Whether a link to the file leads to a reader. Pages are documents of their own, so a link opens them as such. */
export function opensInReader(name: string): boolean {
  const kind = kindOfName(name);
  return kind !== undefined && !/\.(?:x?html?|svgz?)$/i.test(name);
}
