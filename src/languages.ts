/** BCP 47 tags. */
export const languages = ['en', 'de'] as const;

export type Language = (typeof languages)[number];

export function isLanguage(value: unknown): value is Language {
  return languages.includes(value as Language);
}

/** Ignores the region: `de-AT` matches `de`. */
export function firstSpoken(tags: readonly string[]): Language | undefined {
  return tags.map((tag) => tag.split('-')[0]!.toLowerCase()).find(isLanguage);
}
