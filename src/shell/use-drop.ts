import { useEffect, useRef, useState } from 'preact/hooks';

const openable = ['Files', 'text/uri-list', 'text/plain'];

/**
 * Takes files and texts that are dropped anywhere on the page, except what was dragged from the page itself.
 *
 * @returns whether something is being held over the page.
 */
export function useDrop(onDrop: (data: DataTransfer) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const newest = useRef(onDrop);
  newest.current = onDrop;

  useEffect(() => {
    let isOwn = false;
    const start = () => {
      isOwn = true;
    };
    const end = () => {
      isOwn = false;
    };
    const over = (event: DragEvent) => {
      if (isOwn || !event.dataTransfer?.types.some((type) => openable.includes(type))) return;
      // Without this the browser opens a dropped file in place of this page.
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
      setIsOver(true);
    };
    const leave = (event: DragEvent) => {
      // Not merely from one element of the page to the next.
      if (event.relatedTarget === null) setIsOver(false);
    };
    const drop = (event: DragEvent) => {
      setIsOver(false);
      if (isOwn || !event.dataTransfer) return;
      event.preventDefault();
      newest.current(event.dataTransfer);
    };
    const listeners = { dragstart: start, dragend: end, dragover: over, dragleave: leave, drop };
    for (const [type, listener] of Object.entries(listeners)) {
      window.addEventListener(type, listener as EventListener);
    }
    return () => {
      for (const [type, listener] of Object.entries(listeners)) {
        window.removeEventListener(type, listener as EventListener);
      }
    };
  }, []);

  return isOver;
}
