import type { ComponentChildren } from 'preact';
import { publishSession, useIsPublishing } from './publish/publish-session.ts';

interface Props {
  /** A path of this gateway that is content. */
  href: string;
  class?: string;
  title?: string;
  children: ComponentChildren;
}

/** A link to content. It leads away from this page, so it opens another tab while this one is publishing. */
export function ContentLink({ href, class: className, title, children }: Props) {
  const target = useIsPublishing() ? { target: '_blank', rel: 'noopener' } : {};
  return (
    <a href={href} class={className} title={title} {...target}>
      {children}
    </a>
  );
}

/**
 * Goes to content as a link does. A browser that opens no tab unasked asks the user whether to leave this page.
 *
 * @param isReplacing whether it takes this page's place in the history.
 */
export function openContent(path: string, isReplacing = false): void {
  if (publishSession.isWorking) {
    const tab = window.open('about:blank');
    if (tab) {
      tab.opener = null;
      tab.location.replace(new URL(path, location.href));
      return;
    }
  }
  if (isReplacing) location.replace(path);
  else location.assign(path);
}
