import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../button.tsx';
import { formatCount } from '../../format.ts';
import { Icon } from '../../icons.tsx';
import { contentHref } from '../location.ts';
import type { FolderFile } from '../read-content.ts';
import { sanitizeName } from '../sanitize-name.ts';
import { readerTexts } from '../texts/texts.ts';

interface Props {
  pictures: FolderFile[];
  at: number;
  onMove: (at: number) => void;
  onClose: () => void;
}

/** The shortest way of a finger that counts as a swipe, in CSS pixels. */
const swipePixels = 40;

/** One picture over the whole window. The arrow keys, Home, End and swipes change the picture; Escape closes it. */
export function Lightbox({ pictures, at, onMove, onClose }: Props) {
  const t = readerTexts().gallery;
  const dialog = useRef<HTMLDialogElement>(null);
  const start = useRef<{ x: number; y: number } | null>(null);
  const [broken, setBroken] = useState<number | null>(null);
  const { name, location } = pictures[at]!;
  const last = pictures.length - 1;
  const move = (to: number) => {
    if (to >= 0 && to <= last) onMove(to);
  };

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    // Load the neighbours, so that the next picture appears at once.
    for (const neighbour of [pictures[at + 1], pictures[at - 1]]) {
      if (neighbour) new Image().src = contentHref(neighbour.location);
    }
  }, [pictures, at]);

  function keyDown(event: KeyboardEvent) {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(to);
  }

  function pointerUp({ clientX, clientY }: PointerEvent) {
    if (!start.current) return;
    const [x, y] = [clientX - start.current.x, clientY - start.current.y];
    start.current = null;
    if (Math.abs(x) > swipePixels && Math.abs(x) > 2 * Math.abs(y)) move(x < 0 ? at + 1 : at - 1);
  }

  return (
    <dialog
      ref={dialog}
      class="lightbox"
      aria-label={sanitizeName(name)}
      onClose={onClose}
      onKeyDown={keyDown}
    >
      <figure
        onPointerDown={({ clientX, clientY }) => {
          start.current = { x: clientX, y: clientY };
        }}
        onPointerUp={pointerUp}
        onPointerCancel={() => {
          start.current = null;
        }}
      >
        {broken === at ? (
          <p>{t.failed}</p>
        ) : (
          <img
            key={at}
            src={contentHref(location)}
            alt={sanitizeName(name)}
            draggable={false}
            onError={() => setBroken(at)}
          />
        )}
        <figcaption aria-live="polite">
          <bdi>{sanitizeName(name)}</bdi>
          <span class="note">{t.position(formatCount(at + 1), formatCount(last + 1))}</span>
        </figcaption>
      </figure>
      <div class="lightbox-buttons">
        <Button look="icon" aria-label={t.previous} aria-disabled={at === 0} onClick={() => move(at - 1)}>
          <Icon name="back" />
        </Button>
        <Button look="icon" aria-label={t.next} aria-disabled={at === last} onClick={() => move(at + 1)}>
          <Icon name="open" />
        </Button>
        <Button look="icon" aria-label={t.close} onClick={() => dialog.current?.close()}>
          <Icon name="close" />
        </Button>
      </div>
    </dialog>
  );
}
