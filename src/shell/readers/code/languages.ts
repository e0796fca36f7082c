/** The language of highlight.js by the extension of a file, and the group whose chunk has it. */
const languages = {
  web: {
    javascript: 'js mjs cjs jsx',
    typescript: 'ts tsx mts cts',
    xml: 'html htm xhtml xml svg vue svelte rss atom',
    css: 'css',
    scss: 'scss less',
    json: 'json geojson jsonld webmanifest ipynb',
    markdown: 'md markdown mdown mkd',
    yaml: 'yaml yml',
  },
  systems: {
    c: 'c h',
    cpp: 'cc cpp cxx hpp hh',
    csharp: 'cs',
    go: 'go',
    java: 'java',
    kotlin: 'kt kts gradle',
    rust: 'rs',
    swift: 'swift',
    protobuf: 'proto',
  },
  scripts: {
    bash: 'sh bash zsh',
    diff: 'diff patch',
    ini: 'ini toml cfg conf env properties',
    lua: 'lua',
    makefile: 'makefile',
    perl: 'pl pm',
    php: 'php',
    python: 'py',
    r: 'r',
    ruby: 'rb',
    sql: 'sql',
  },
} as const;

export type LanguageGroup = keyof typeof languages;

const byExtension = new Map(
  Object.entries(languages).flatMap(([group, names]) =>
    Object.entries(names).flatMap(([language, extensions]) =>
      extensions
        .split(' ')
        .map((extension) => [extension, { language, group: group as LanguageGroup }] as const),
    ),
  ),
);

/** The language of a file by its name, or undefined for plain text. */
export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase();
  return byExtension.get(lower.replace(/^.*[./]/s, ''))?.language;
}

/** The group of a language. */
export function groupOf(language: string): LanguageGroup | undefined {
  for (const { language: other, group } of byExtension.values()) if (other === language) return group;
  return undefined;
}
