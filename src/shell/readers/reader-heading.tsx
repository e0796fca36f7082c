import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ContentLink } from '../content-link.tsx';
import { Icon } from '../icons.tsx';
import { hrefOf } from '../route.ts';
import { texts } from '../texts/texts.ts';
import { contentHref, nameOf, parentOf, type ReaderLocation, readerHref } from './location.ts';
import { sanitizeName } from './sanitize-name.ts';
import { readerTexts } from './texts/texts.ts';

interface Props {
  location: ReaderLocation;
  /** The name of the file or folder, or the title of its site. */
  title: string;
  /** The title of the site, if it is not the title already. */
  site: string;
  /** Whether there is content to open and to save. */
  isThere: boolean;
  children?: ComponentChildren;
}

/** The slim heading that all readers share: back, name, the file itself, download. */
export function ReaderHeading({ location, title, site, isThere, children }: Props) {
  const t = readerTexts();
  const heading = useRef<HTMLHeadingElement>(null);
  const parent = parentOf(location);
  const href = readerHref(location);
  const isFolder = location.path === '' || location.path?.endsWith('/');
  useEffect(() => {
    document.title = `${sanitizeName(title)} · ${texts.appName}`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [href]);
  return (
    <header class="reader-heading">
      <a
        class="icon-button"
        href={parent ? readerHref(parent) : hrefOf('library')}
        title={parent ? t.files : t.library}
      >
        <Icon name="back" />
        <span class="visually-hidden">{parent ? t.files : t.library}</span>
      </a>
      <div class="reader-names">
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{sanitizeName(title)}</bdi>
        </h1>
        {site !== title && (
          <p class="note">
            <bdi>{sanitizeName(site)}</bdi>
          </p>
        )}
      </div>
      <div class="reader-actions">
        {children}
        {isThere && (
          <>
            <ContentLink class="icon-button" href={contentHref(location)} title={t.raw}>
              <Icon name="external" />
              <span class="visually-hidden">{t.raw}</span>
            </ContentLink>
            {/* Without the attribute `download`: Chromium sends such a link past every worker. */}
            <a
              class="icon-button"
              // Only then does the worker know that this page asks.
              referrerPolicy="same-origin"
              href={contentHref(location, isFolder ? 'format=tar&download' : 'download')}
              title={t.download}
            >
              <Icon name="save" />
              <span class="visually-hidden">{`${t.download}: ${sanitizeName(nameOf(location) || title)}`}</span>
            </a>
          </>
        )}
      </div>
    </header>
  );
}
