import { isLanguage, type Language } from '../languages.ts';
import { isTheme, type Theme } from '../themes.ts';
import { gateway } from './gateway-api.ts';
import { siteOriginClient } from './origins/site-origin-client.ts';
import { browserLanguage, speak } from './texts/texts.ts';

const prefix = 'antway.';

/** Reads a preference of this page. Returns null if storage is blocked. */
function read(key: string): string | null {
  try {
    return localStorage.getItem(prefix + key);
  } catch {
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, value);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
}

/** Null means the system's theme. */
export function chosenTheme(): Theme | null {
  const value = read('theme');
  return isTheme(value) ? value : null;
}

export function chooseTheme(theme: Theme | null): void {
  write('theme', theme);
  applyTheme(theme);
}

/** Applies the user's theme: styles use the attribute, the browser's own interface uses the colour of that scheme. */
export function applyTheme(theme: Theme | null = chosenTheme()): void {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const scheme = meta.dataset.scheme!;
    meta.media = !theme ? `(prefers-color-scheme: ${scheme})` : scheme === theme ? 'all' : 'not all';
  }
}

/** Null means the browser's language. */
export function chosenLanguage(): Language | null {
  const value = read('language');
  return isLanguage(value) ? value : null;
}

/** If the worker cannot store them, its pages use the browser's language and the system's theme. */
export async function tellAppearance(): Promise<void> {
  try {
    await gateway.setAppearance({ language: chosenLanguage(), theme: chosenTheme() });
    await siteOriginClient.synchronise();
  } catch (error) {
    console.warn('antway: the worker does not know how its pages shall look', error);
  }
}

/** Stores the language and loads its texts. The caller renders again. */
export async function chooseLanguage(language: Language | null): Promise<void> {
  write('language', language);
  await applyLanguage();
}

export async function applyLanguage(): Promise<void> {
  const language = chosenLanguage() ?? browserLanguage();
  await speak(language);
  document.documentElement.lang = language;
}

export function isInstallDeclined(): boolean {
  return read('install-declined') !== null;
}

export function declineInstall(): void {
  write('install-declined', 'yes');
}

export function isMoveDismissed(): boolean {
  return read('move-dismissed') !== null;
}

export function dismissMove(): void {
  write('move-dismissed', 'yes');
}

export function forgetPreferences(): void {
  for (const key of ['theme', 'language', 'install-declined', 'move-dismissed']) write(key, null);
}
