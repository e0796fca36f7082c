/** Returns a function that restores the former values, except of attributes that other code has changed since. */
export function override(element: Element, values: Readonly<Record<string, string>>): () => void {
  const undo = Object.entries(values).map(([name, value]) => {
    const former = element.getAttribute(name);
    element.setAttribute(name, value);
    return () => {
      if (element.getAttribute(name) !== value) return;
      if (former === null) element.removeAttribute(name);
      else element.setAttribute(name, former);
    };
  });
  return () => {
    for (const step of undo) step();
  };
}
