import { useEffect, useState } from 'preact/hooks';

const delayMs = 1_000;

/**
 * Whether the page has been visible and focused for a second since `isNeeded`. Before that, a button must not do anything
 * that the user cannot take back: another page may have opened this one just before a click or key.
 */
export function useArmed(isNeeded: boolean): boolean {
  const [isArmed, setIsArmed] = useState(false);
  useEffect(() => {
    if (!isNeeded) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isSeen = () => !document.hidden && document.hasFocus();
    const arm = () => {
      clearTimeout(timer);
      setIsArmed(false);
      if (isSeen()) timer = setTimeout(() => setIsArmed(isSeen()), delayMs);
    };
    const events = ['focus', 'blur', 'pageshow', 'visibilitychange'];
    for (const event of events) window.addEventListener(event, arm);
    arm();
    return () => {
      clearTimeout(timer);
      setIsArmed(false);
      for (const event of events) window.removeEventListener(event, arm);
    };
  }, [isNeeded]);
  return isArmed;
}
