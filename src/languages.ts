/** The languages that Antway speaks, by their BCP 47 tag. */
export const languages = ['en', 'de'] as const;

export type Language = (typeof languages)[number];

export function isLanguage(value: unknown): value is Language {
  return languages.includes(value as Language);
}

/** The first of some BCP 47 tags in whose language Antway speaks, without its region: `de` of `de-AT`. */
export function firstSpoken(tags: readonly string[]): Language | undefined {
  return tags.map((tag) => tag.split('-')[0]!.toLowerCase()).find(isLanguage);
}
