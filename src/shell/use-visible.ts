import { useEffect, useState } from 'preact/hooks';

/** Whether the user can see this page. Nothing is asked or computed while it is false. */
export function useVisible(): boolean {
  const [visible, setVisible] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const look = () => setVisible(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', look);
    // An effect runs after the first paint, and what changed in between was announced to nobody.
    look();
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return visible;
}
