import { override } from './attributes.ts';
import { page } from './dom.ts';

/** For each element with a note, the functions that undo its changes. */
const explained = new WeakMap<Element, (() => void)[]>();

const className = 'antway-unavailable';

/**
 * Shows a problem: as a note in the element's place, or as the title of a link. A container keeps its author's content.
 * @param isShown whether the element itself shows the content. Such an element is hidden.
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

/** Removes the note of an element before the next attempt. */
export function takeBack(element: Element): void {
  for (const step of explained.get(element) ?? []) step();
  explained.delete(element);
}
