import type { Site } from '../../library/library.ts';
import { titleOf } from '../site-title.ts';
import { texts } from '../texts/texts.ts';
import { locationOfPath, readerHref } from './location.ts';

/** A link to the files of a site, or to the reader of a file. A record that is no file has none. */
export function ReaderLink({ site, class: className }: { site: Site; class: string }) {
  const location = site.kind === 'record' ? undefined : locationOfPath(site.path);
  if (!location) return null;
  const label = site.kind === 'archive' ? texts.reader.files : texts.reader.read;
  return (
    <a
      class={className}
      href={readerHref(location)}
      aria-label={texts.library.actionOn(label, titleOf(site))}
    >
      {label}
    </a>
  );
}

/** Offers the reader for the content path that the user has typed. */
export function ReaderOffer({ path }: { path: string }) {
  const location = locationOfPath(path);
  if (!location) return null;
  return (
    <a class="link" href={readerHref(location)}>
      {texts.reader.openInReader}
    </a>
  );
}
