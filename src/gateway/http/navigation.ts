/** Whether the browser loads a page, in a window or in a frame. */
export function isNavigation({ mode, destination }: Request): boolean {
  return mode === 'navigate' || ['document', 'iframe', 'frame'].includes(destination);
}

/** Whether the browser loads a page in a window, not in a frame. */
export function isTopLevelNavigation({ mode, destination }: Request): boolean {
  return mode === 'navigate' && destination === 'document';
}
