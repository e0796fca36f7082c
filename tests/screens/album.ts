import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Language } from '../../src/languages.ts';
import { violationsIn } from '../support/accessibility.ts';
import { layoutShift, mostShift, overflow } from '../support/layout.ts';
import { fromRoot } from '../support/paths.ts';

export const albumFolder = fromRoot('test-results/screens');

export const schemes = ['light', 'dark'] as const;
type Scheme = (typeof schemes)[number];

/** The windows by their width, in pixels. */
const heights = { 390: 844, 768: 1024, 1280: 800 } as const;
type Width = keyof typeof heights;
export const widths = [390, 768, 1280] as const satisfies Width[];
const usualWidth = 1280;
/** A longer page is cut. */
const mostHeight = 4_000;

/** Where axe audits a state. The other language has the other scheme at each width. */
const audits: Record<Language, Record<Width, Scheme>> = {
  en: { 390: 'light', 768: 'dark', 1280: 'dark' },
  de: { 390: 'dark', 768: 'light', 1280: 'light' },
};

interface ShootOptions {
  /** False: only what the window shows. For what fills the window. */
  isWhole?: boolean;
  /** Pictures in `docs/screenshots/` or `public/`, if `UPDATE_DOCS` is set, from the English run. */
  copies?: Record<string, [Width, Scheme]>;
}

/** The pictures of one screen in one language, and the problems that were found while they were taken. */
export class Album {
  readonly problems: string[] = [];
  readonly #language: Language;
  readonly #folder: string;
  #states = 0;

  constructor(screen: string, language: Language) {
    this.#language = language;
    this.#folder = join(albumFolder, screen);
    mkdirSync(this.#folder, { recursive: true });
  }

  /**
   * Loads a URL in windows of all widths, measures the layout shift until the page rests, and takes the pictures.
   * @param isReady resolves when the page shows what the user waits for.
   */
  async load(
    page: Page,
    state: string,
    url: string,
    isReady: () => Promise<unknown>,
    options: ShootOptions = {},
  ): Promise<void> {
    for (const width of widths) {
      await page.setViewportSize({ width, height: heights[width] });
      await page.goto('about:blank');
      await page.goto(url);
      await isReady();
      await rest(page);
      const shift = await layoutShift(page);
      if (shift > mostShift) this.#note(`${state}, ${width} px: the layout shifts by ${shift.toFixed(3)}`);
    }
    await this.shoot(page, state, options);
  }

  /** Takes the pictures of a state in windows of all widths, light and dark. */
  async shoot(page: Page, state: string, { isWhole = true, copies = {} }: ShootOptions = {}): Promise<void> {
    await rest(page);
    const number = String(++this.#states).padStart(2, '0');
    for (const width of widths) {
      const height = heights[width];
      await page.setViewportSize({ width, height });
      await rest(page);
      const tooWide = await overflow(page);
      if (tooWide.length > 0)
        this.#note(`${state}, ${width} px: wider than the window: ${tooWide.join(', ')}`);
      for (const scheme of schemes) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        await this.#copy(page, copies, width, scheme);
        // In a narrow window the navigation is fixed to the edge, so the window has to be as high as the page.
        if (isWhole && width === widths[0]) {
          const whole = await page.evaluate(() => document.documentElement.scrollHeight);
          await page.setViewportSize({ width, height: Math.min(Math.max(whole, height), mostHeight) });
        }
        if (audits[this.#language][width] === scheme)
          await this.#audit(page, `${state}, ${width} px, ${scheme}`);
        const name = `${number} ${state}.${this.#language}.${width}.${scheme}.jpg`;
        const path = join(this.#folder, name);
        const fullPage = isWhole && width !== widths[0];
        await page.screenshot({ path, type: 'jpeg', quality: 85, animations: 'disabled', fullPage });
      }
    }
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize({ width: usualWidth, height: heights[usualWidth] });
    await rest(page);
  }

  async #copy(
    page: Page,
    copies: Record<string, [Width, Scheme]>,
    width: Width,
    scheme: Scheme,
  ): Promise<void> {
    if (!process.env.UPDATE_DOCS || this.#language !== 'en') return;
    await page.setViewportSize({ width, height: heights[width] });
    for (const [path, [ofWidth, ofScheme]] of Object.entries(copies)) {
      if (ofWidth === width && ofScheme === scheme)
        await page.screenshot({ path: fromRoot(path), animations: 'disabled' });
    }
  }

  async #audit(page: Page, what: string): Promise<void> {
    // Content of strangers is not the shell's.
    for (const { rule, elements } of await violationsIn(page, { exclude: 'iframe' }))
      this.#note(`${what}: axe: ${rule}: ${elements.map(({ html }) => html).join(' ')}`);
  }

  #note(problem: string): void {
    this.problems.push(`${this.#language}: ${problem}`);
  }
}

/** Waits until pictures are loaded and the layout is quiet. */
async function rest(page: Page): Promise<void> {
  // To Playwright, requests of a worker that ended go on for ever.
  await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined);
  await page.evaluate(async () => {
    await document.fonts.ready;
    const near = [...document.images].filter((image) => image.loading !== 'lazy');
    await Promise.all(near.map((image) => image.decode().catch(() => undefined)));
    await new Promise((resolve) => setTimeout(resolve, 150));
  });
}
