import { useEffect, useState } from 'preact/hooks';

/** Whether the browser believes that it has a network. True says little; false is certain. */
export function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    // An effect runs after the first paint, and what changed in between was announced to nobody.
    look();
    return () => {
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
    };
  }, []);
  return online;
}
