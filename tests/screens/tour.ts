import type { BrowserContext, Page } from '@playwright/test';
import { type Language, languages } from '../../src/languages.ts';
import { expect, openShellIn, test } from '../support/chromium.ts';
import { observeLayoutShifts } from '../support/layout.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import type { Processes } from '../support/processes.ts';
import { Album } from './album.ts';
import { type Words, words } from './words.ts';

export interface Stage extends Processes {
  album: Album;
  /** The texts of this run. */
  t: Words;
  /** A new browser profile. */
  newProfile(): Promise<BrowserContext>;
  /** The shell at a URL in a new profile, or in a given one. The worker runs, and knows the language. */
  openShell(url: string, profile?: BrowserContext): Promise<Page>;
}

const locales: Record<Language, string> = { en: 'en-GB', de: 'de-DE' };

/** Declares the tour through the states of one screen, for each language. It fails with all problems that it met. */
export function tour(screen: string, take: (stage: Stage) => Promise<void>): void {
  for (const language of languages) {
    test(`${screen}, ${language}`, async ({ browser, startPeer, startHost, folder }) => {
      const album = new Album(screen, language);
      const profiles: BrowserContext[] = [];
      const newProfile = async () => {
        const profile = await browser.newContext({
          locale: locales[language],
          viewport: { width: 1280, height: 800 },
          colorScheme: 'light',
          reducedMotion: 'reduce',
        });
        profiles.push(profile);
        await observeLayoutShifts(profile);
        await profile.addInitScript((language) => {
          try {
            localStorage.setItem('antway.language', language);
          } catch {
            // Content in a sandbox has no storage.
          }
        }, language);
        return profile;
      };
      const openShell = async (url: string, profile?: BrowserContext) => {
        const shell = await openShellIn(profile ?? (await newProfile()), url);
        await expect
          .poll(() => shell.evaluate(() => fetch('/-/appearance').then((answer) => answer.json())))
          .toMatchObject({ language });
        return shell;
      };
      try {
        await take({ album, t: words[language], startPeer, startHost, folder, newProfile, openShell });
      } finally {
        await Promise.all(profiles.map((profile) => profile.close()));
      }
      expect(album.problems).toEqual([]);
    });
  }
}

/** The origin of a host where each site has an origin of its own. */
export function withOwnOrigins({ url }: PeerProcess): string {
  return url.replace('127.0.0.1', 'antway.localhost');
}
