import { useEffect } from 'preact/hooks';
import { goTo } from '../route.ts';

/** Whether the next input that appears takes the focus: the shortcut was pressed on another screen. */
let isWanted = false;

/** `/`, and Ctrl-K or Command-K, lead to the input of the start page from every screen. */
export function useSearchShortcut(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, altKey, shiftKey, isComposing } = event;
      const withCommand = event.ctrlKey || event.metaKey;
      const isSlash = key === '/' && !withCommand && !altKey && !isComposing && !isEditable(target);
      const isK = key.toLowerCase() === 'k' && withCommand && !altKey && !shiftKey;
      if (event.defaultPrevented || (!isSlash && !isK)) return;
      event.preventDefault();
      const input = document.querySelector<HTMLInputElement>('#address');
      if (input) {
        input.focus();
        input.select();
        return;
      }
      isWanted = true;
      goTo('open');
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

/** Focuses the input if the shortcut has led to its screen. */
export function useWantedFocus(input: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    if (!isWanted) return;
    isWanted = false;
    // After the frame has focused the heading of the new screen.
    const timer = setTimeout(() => input.current?.focus());
    return () => clearTimeout(timer);
  }, []);
}

function isEditable(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select') !== null)
  );
}
