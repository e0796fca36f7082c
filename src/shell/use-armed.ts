import { useEffect, useState } from 'preact/hooks';
import { whenSeen } from '../site-pages/when-seen.ts';

/** Whether the page has been visible and focused for a second since `isNeeded` became true, see `whenSeen`. */
export function useArmed(isNeeded: boolean): boolean {
  const [isArmed, setIsArmed] = useState(false);
  useEffect(() => {
    if (!isNeeded) return;
    const stop = whenSeen(setIsArmed);
    return () => {
      stop();
      setIsArmed(false);
    };
  }, [isNeeded]);
  return isArmed;
}
