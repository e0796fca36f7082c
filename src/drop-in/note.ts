import { override } from './attributes.ts';
import { page } from './dom.ts';

/** How to take back what was done to an element whose content cannot be shown. */
const explained = new WeakMap<Element, (() => void)[]>();

const className = 'antway-unavailable';

/**
 * A note in the element's place, or for a link its title. What the site's author put into a container stays.
 * @param isShown whether the element itself shows what it refers to, and is hidden.
 */
export function explain(element: Element, problem: string, isShown: boolean): void {
  takeBack(element);
  element.classList.add(className);
  const undo = [() => element.classList.remove(className)];
  explained.set(element, undo);
  if (element.matches('a,area')) {
    undo.push(override(element, { title: problem }));
  }
  if (element.matches('a,area,image,link,source,track')) return;
  const note = page.createElement('span');
  note.className = className;
  note.setAttribute('role', 'note');
  const name = element.getAttribute('alt') ?? element.getAttribute('aria-label');
  note.textContent = name ? `${name} (${problem})` : problem;
  note.style.cssText = 'border:1px solid;padding:.25em .5em;display:inline-block';
  if (!isShown) {
    if (element.textContent?.trim()) return;
    element.replaceChildren(note);
  } else {
    if (!element.hasAttribute('hidden')) undo.push(override(element, { hidden: '' }));
    element.after(note);
  }
  undo.push(() => note.remove());
}

/** What was wrong may be right by now. */
export function takeBack(element: Element): void {
  for (const step of explained.get(element) ?? []) step();
  explained.delete(element);
}
