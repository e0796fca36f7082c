const delayMs = 1_000;

/**
 * Reports whether this page has been visible and focused for a second, each time that this changes. Before that, a
 * button must not do anything that the user cannot undo: another page may have opened this page just before a click.
 * @returns a function that stops the reports.
 */
export function whenSeen(onChange: (isSeen: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isSeen = () => !document.hidden && document.hasFocus();
  const look = () => {
    clearTimeout(timer);
    onChange(false);
    if (isSeen()) timer = setTimeout(() => onChange(isSeen()), delayMs);
  };
  const events = ['focus', 'blur', 'pageshow', 'visibilitychange'];
  for (const event of events) window.addEventListener(event, look);
  look();
  return () => {
    clearTimeout(timer);
    for (const event of events) window.removeEventListener(event, look);
  };
}
