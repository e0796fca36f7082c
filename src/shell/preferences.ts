import { isLanguage, type Language } from '../languages.ts';
import { isTheme, type Theme } from '../themes.ts';
import { gateway } from './gateway-api.ts';
import { ownOrigins } from './own-origins.ts';
import { browserLanguage, speak } from './texts/texts.ts';

const prefix = 'antway.';

/** Small things that this page remembers by itself. Where storage is blocked nothing is. */
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
    // Storage is blocked: what was chosen holds as long as the page does.
  }
}

/** Null: as the system's. */
export function chosenTheme(): Theme | null {
  const value = read('theme');
  return isTheme(value) ? value : null;
}

export function chooseTheme(theme: Theme | null): void {
  write('theme', theme);
  applyTheme(theme);
}

/** The user's choice over the system's: styles follow the attribute, and the browser's own bars the colour. */
export function applyTheme(theme: Theme | null = chosenTheme()): void {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const scheme = theme ?? meta.dataset.scheme;
    meta.content = scheme === 'dark' ? '#14171f' : '#f7f5f1';
  }
}

/** Null: as the browser's own. */
export function chosenLanguage(): Language | null {
  const value = read('language');
  return isLanguage(value) ? value : null;
}

/**
 * Tells the worker what was chosen, for the pages that it makes. Where nothing can be stored, those are as the browser and
 * the system have it.
 */
export async function tellAppearance(): Promise<void> {
  try {
    await gateway.setAppearance({ language: chosenLanguage(), theme: chosenTheme() });
    await ownOrigins.synchronise();
  } catch (error) {
    console.warn('antway: the worker does not know how its pages shall look', error);
  }
}

/** Done when the texts are there; the caller renders again. */
export async function chooseLanguage(language: Language | null): Promise<void> {
  write('language', language);
  await applyLanguage();
}

export async function applyLanguage(): Promise<void> {
  const language = chosenLanguage() ?? browserLanguage();
  await speak(language);
  document.documentElement.lang = language;
}

/** Whether the offer to install was declined in this browser. */
export function isInstallDeclined(): boolean {
  return read('install-declined') !== null;
}

export function declineInstall(): void {
  write('install-declined', 'yes');
}

/** Whether the offer to move the library was dismissed in this browser. */
export function isMoveDismissed(): boolean {
  return read('move-dismissed') !== null;
}

export function dismissMove(): void {
  write('move-dismissed', 'yes');
}

/** For the reset: this page's own memory goes too. */
export function forgetPreferences(): void {
  for (const key of ['theme', 'language', 'install-declined', 'move-dismissed']) write(key, null);
}
