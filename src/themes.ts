/** Themes that the user can choose. Without a choice, pages follow the system. */
export const themes = ['light', 'dark'] as const;

export type Theme = (typeof themes)[number];

export function isTheme(value: unknown): value is Theme {
  return themes.includes(value as Theme);
}
