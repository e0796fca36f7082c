import { useEffect, useState } from 'preact/hooks';

/** Whether the browser believes that it has a network. False is reliable, true is not. */
export function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    window.addEventListener('online', look);
    window.addEventListener('offline', look);
    // The effect runs after the first paint. Nothing has reported a change in between.
    look();
    return () => {
      window.removeEventListener('online', look);
      window.removeEventListener('offline', look);
    };
  }, []);
  return online;
}
