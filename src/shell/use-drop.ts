import { useEffect, useRef, useState } from 'preact/hooks';

type DropType = 'Files' | 'text/uri-list' | 'text/plain';

/**
 * Handles drops anywhere on the page, except for data that was dragged from the page itself. The browser handles other
 * types: it inserts a dropped text into the field below.
 * @returns whether the user currently drags acceptable data over the page.
 */
export function useDrop(types: readonly DropType[], onDrop: (data: DataTransfer) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const newest = useRef({ types, onDrop });
  newest.current = { types, onDrop };

  useEffect(() => {
    let isOwn = false;
    const isTaken = ({ dataTransfer }: DragEvent) =>
      !isOwn &&
      dataTransfer !== null &&
      newest.current.types.some((type) => dataTransfer.types.includes(type));
    const over = (event: DragEvent) => {
      if (!isTaken(event)) return;
      // Without this call, the browser opens a dropped file in place of this page.
      event.preventDefault();
      event.dataTransfer!.dropEffect = 'copy';
      setIsOver(true);
    };
    const leave = (event: DragEvent) => {
      // `relatedTarget` is set when the drag moves from one element of the page to another.
      if (event.relatedTarget === null) setIsOver(false);
    };
    const drop = (event: DragEvent) => {
      setIsOver(false);
      if (!isTaken(event)) return;
      event.preventDefault();
      newest.current.onDrop(event.dataTransfer!);
    };
    const stop = new AbortController();
    const listeners = {
      dragstart: () => (isOwn = true),
      dragend: () => (isOwn = false),
      dragover: over,
      dragleave: leave,
      drop,
    };
    for (const [type, listener] of Object.entries(listeners)) {
      window.addEventListener(type, listener as EventListener, { signal: stop.signal });
    }
    return () => stop.abort();
  }, []);

  return isOver;
}
