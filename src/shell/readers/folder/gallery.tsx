import { useState } from 'preact/hooks';
import { contentHref } from '../location.ts';
import type { FolderFile } from '../read-content.ts';
import { sanitizeName } from '../sanitize-name.ts';
import { useBounded } from '../show-more.tsx';
import { readerTexts } from '../texts/texts.ts';
import { Lightbox } from './lightbox.tsx';

const picturesPerStep = 120;

/** Pictures in a grid. The browser loads a picture when it comes near the visible part. */
export function Gallery({ pictures, title }: { pictures: FolderFile[]; title: string }) {
  const t = readerTexts();
  const { shown, more } = useBounded(pictures.length, picturesPerStep);
  const [open, setOpen] = useState<number | null>(null);
  return (
    <>
      <ul class="gallery" aria-label={t.gallery.label(sanitizeName(title))}>
        {pictures.slice(0, shown).map(({ name, location }, at) => (
          <li key={location.path}>
            <button
              type="button"
              class="gallery-picture"
              aria-label={t.gallery.open(sanitizeName(name))}
              onClick={() => setOpen(at)}
            >
              <Thumbnail url={contentHref(location)} name={name} />
            </button>
          </li>
        ))}
      </ul>
      {more}
      {open !== null && (
        <Lightbox pictures={pictures} at={open} onMove={setOpen} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

function Thumbnail({ url, name }: { url: string; name: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <bdi class="note">{sanitizeName(name)}</bdi>;
  return <img src={url} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />;
}
