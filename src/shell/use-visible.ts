import { useEffect, useState } from 'preact/hooks';

/** Whether the user can see this page. While it is false, the shell makes no requests and no computations. */
export function useVisible(): boolean {
  const [visible, setVisible] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const look = () => setVisible(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', look);
    // The effect runs after the first paint. Nothing has reported a change in between.
    look();
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return visible;
}
