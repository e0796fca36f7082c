import type { ComponentChildren } from 'preact';
import { ContentLink } from '../content-link.tsx';
import { Cover } from './cover.tsx';

interface Props {
  href: string;
  /** 64 hex digits. Shown when the user points at the cover. */
  address: string;
  title: string;
  icon?: string | null | undefined;
  picture?: string | null | undefined;
  /** One line below the title. */
  children?: ComponentChildren;
}

/** A site on the shelf. The title comes from a stranger, so it is isolated from the text around it. */
export function CoverLink({ href, address, title, icon, picture, children }: Props) {
  return (
    <ContentLink href={href} class="cover-link" title={address}>
      <Cover address={address} icon={icon} picture={picture} />
      <bdi class="cover-title">{title}</bdi>
      <span class="cover-note">{children}</span>
    </ContentLink>
  );
}

/** Reserves the space of a row of covers while its content is loading, or shows why there are none in the same space. */
export function WaitingCovers({ children }: { children?: ComponentChildren }) {
  return (
    <div class={children ? 'covers-none' : undefined}>
      {children}
      <ul class="covers covers-waiting" aria-hidden="true">
        {[0, 1, 2].map((i) => (
          <li key={i}>
            <span class="cover-link">
              <span class="cover" />
              <span class="cover-title" />
              <span class="cover-note" />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
