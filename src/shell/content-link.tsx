import type { ComponentChildren } from 'preact';
import { publishSession, useIsPublishing } from './publish/publish-session.ts';

interface Props {
  /** A content path of this gateway. */
  href: string;
  class?: string;
  title?: string;
  children: ComponentChildren;
}

/** A link to content. It replaces this page, but opens a new tab while this page is publishing. */
export function ContentLink({ href, class: className, title, children }: Props) {
  const target = useIsPublishing() ? { target: '_blank', rel: 'noopener' } : {};
  return (
    <a href={href} class={className} title={title} {...target}>
      {children}
    </a>
  );
}

/** Navigates to content like a link. If the browser blocks the new tab, it asks the user whether to leave this page. */
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
