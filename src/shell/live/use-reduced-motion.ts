import { useEffect, useState } from 'preact/hooks';

/** Whether the user has asked the system for less movement. */
export function useReducedMotion(): boolean {
  const [isReduced, setReduced] = useState(() => query().matches);
  useEffect(() => {
    const media = query();
    const look = () => setReduced(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return isReduced;
}

const query = () => matchMedia('(prefers-reduced-motion: reduce)');
