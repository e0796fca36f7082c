import type { BrowserContext, Page } from '@playwright/test';

/** The layout of a screen may shift by this much in one load: https://web.dev/articles/cls calls twice as much good. */
export const mostShift = 0.05;

interface ObservedWindow {
  layoutShift?: { total: number; observer: PerformanceObserver; add: (list: PerformanceEntryList) => void };
}

/** Observes the layout shifts of each document that the context loads from now on. */
export async function observeLayoutShifts(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
    const add = (entries: PerformanceEntryList) => {
      for (const entry of entries as unknown as { value: number; hadRecentInput: boolean }[]) {
        // Shifts that follow an input of the user are expected.
        if (!entry.hadRecentInput) observed.total += entry.value;
      }
    };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    const observed = { total: 0, observer, add };
    observer.observe({ type: 'layout-shift', buffered: true });
    Object.assign(window, { layoutShift: observed });
  });
}

/** @returns the sum of the layout shifts since the load of the document. */
export async function layoutShift(page: Page): Promise<number> {
  return page.evaluate(() => {
    const observed = (window as unknown as ObservedWindow).layoutShift;
    if (!observed) throw new Error('The layout of this page is not observed.');
    observed.add(observed.observer.takeRecords());
    return observed.total;
  });
}

/** @returns the elements that make the document wider than its window. */
export async function overflow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().right > clientWidth + 1,
    );
    const innermost = wide.filter(
      (element) => !wide.some((other) => other !== element && element.contains(other)),
    );
    return innermost.length > 0
      ? innermost.slice(0, 5).map((element) => `<${element.localName} class="${element.className}">`)
      : [`the document by ${scrollWidth - clientWidth} px`];
  });
}
