import { useState } from 'preact/hooks';
import { contentHref, type ReaderLocation } from './location.ts';
import { sanitizeName } from './sanitize-name.ts';
import { readerTexts } from './texts/texts.ts';

/** One picture. An SVG file in an `img` element runs no script and loads nothing. */
export function PictureReader({ location, name }: { location: ReaderLocation; name: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <p class="empty">{readerTexts().gallery.failed}</p>;
  return (
    <p class="reader-picture">
      <img src={contentHref(location)} alt={sanitizeName(name)} onError={() => setBroken(true)} />
    </p>
  );
}
