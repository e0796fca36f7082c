import { useState } from 'preact/hooks';
import type { ListedSite } from '../gateway-api.ts';

type FileKind = 'picture' | 'sound' | 'film' | 'text' | 'other';

/** Outlines on a grid of 24, as in `icons.tsx`. */
const shapes: Record<FileKind, string> = {
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01',
  sound:
    'M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z',
  film: 'M4 5h16v14H4zM10 9l5 3-5 3z',
  text: 'M6 3h8l4 4v14H6zM9 12h6M9 16h6',
  other: 'M6 3h8l4 4v14H6zM14 3v4h4',
};

/** Extensions of files whose media type is not stored, such as private ones. */
const extensions: Record<string, FileKind> = {
  jpg: 'picture',
  jpeg: 'picture',
  png: 'picture',
  gif: 'picture',
  webp: 'picture',
  avif: 'picture',
  svg: 'picture',
  mp3: 'sound',
  ogg: 'sound',
  flac: 'sound',
  wav: 'sound',
  m4a: 'sound',
  mp4: 'film',
  webm: 'film',
  mov: 'film',
  mkv: 'film',
  txt: 'text',
  md: 'text',
  html: 'text',
  pdf: 'text',
};

/** Larger pictures would cost too much memory for a thumbnail, in bytes. */
const mostPictureBytes = 16 * 1024 * 1024;

export function fileKindOf({ type, title }: Pick<ListedSite, 'type' | 'title'>): FileKind {
  const main = type?.split('/')[0];
  if (main === 'image') return 'picture';
  if (main === 'audio') return 'sound';
  if (main === 'video') return 'film';
  if (main === 'text') return 'text';
  const extension = /\.([a-z0-9]+)$/i.exec(title ?? '')?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(extensions, extension) ? extensions[extension]! : 'other';
}

/** A thumbnail of a stored picture, or the outline of the file's type. It is decoration: a label stands next to it. */
export function FileIcon({ site }: { site: ListedSite }) {
  const [isBroken, setBroken] = useState(false);
  const kind = fileKindOf(site);
  // The bytes of a site with its own origin are stored there: here, the picture would be fetched from peers.
  const isStored = site.offline && !site.hasOwnOrigin && site.bytes.stored <= mostPictureBytes;
  if (kind === 'picture' && isStored && !isBroken) {
    return (
      <span class="site-icon" aria-hidden="true">
        <img
          class="thumbnail"
          src={site.path}
          alt=""
          width="34"
          height="34"
          loading="lazy"
          onError={() => setBroken(true)}
        />
      </span>
    );
  }
  return (
    <span class="site-icon" aria-hidden="true">
      <svg class="icon" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
        <path d={shapes[kind]} />
      </svg>
    </span>
  );
}
