import { useEffect, useRef, useState } from 'preact/hooks';

/** What is dragged: `Files`, or the type of a text. */
export type DropType = 'Files' | 'text/uri-list' | 'text/plain';

/**
 * Takes what is dropped anywhere on the page, except what was dragged from the page itself. What is of other types is
 * left to the browser, which puts a text into the field that it is dropped on.
 *
 * @returns whether something is being held over the page that would be taken.
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
    const start = () => {
      isOwn = true;
    };
    const end = () => {
      isOwn = false;
    };
    const over = (event: DragEvent) => {
      if (!isTaken(event)) return;
      // Without this the browser opens a dropped file in place of this page.
      event.preventDefault();
      event.dataTransfer!.dropEffect = 'copy';
      setIsOver(true);
    };
    const leave = (event: DragEvent) => {
      // Not merely from one element of the page to the next.
      if (event.relatedTarget === null) setIsOver(false);
    };
    const drop = (event: DragEvent) => {
      setIsOver(false);
      if (!isTaken(event)) return;
      event.preventDefault();
      newest.current.onDrop(event.dataTransfer!);
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
