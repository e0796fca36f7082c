import { useEffect, useRef } from 'preact/hooks';
import { Observable, useObserved } from '../observable.ts';
import { goTo } from '../route.ts';

/** How an exported site begins: with the name of its first member. */
const start = 'antway-site.json\0';

/** An exported site that arrived on another screen and waits for the library. */
const brought = new Observable<Blob | null>(null);

/** Whether a file is an exported site, or pretends to be one by its name. */
export async function isExport(file: Blob): Promise<boolean> {
  if (file instanceof File && /\.antsite$/i.test(file.name)) return true;
  const text = await file
    .slice(0, start.length)
    .text()
    .catch(() => '');
  return text === start;
}

/** Shows the library, which imports the file. */
export function bringExport(file: Blob): void {
  brought.set(file);
  goTo('library');
}

/** Hands over a file that arrived on another screen, once the gateway runs. */
export function useBroughtExport(active: boolean, take: (file: Blob) => void): void {
  const file = useObserved(brought, () => brought.state);
  const newest = useRef(take);
  newest.current = take;
  useEffect(() => {
    if (!active || !file) return;
    brought.set(null);
    newest.current(file);
  }, [active, file]);
}
