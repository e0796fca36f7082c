import type { ComponentChildren } from 'preact';
import { isPlainClick } from './plain-click.ts';
import { publishSession } from './publish/publish-session.ts';
import { goToView } from './route.ts';
import { isServedByWorker } from './served-by-worker.ts';

interface Props {
  /** A content path of this gateway, or the fragment of a reader. */
  href: string;
  class?: string;
  title?: string;
  children: ComponentChildren;
}

/** A link to content. A plain click shows it in the viewer. In a new tab it opens without the viewer's bar. */
export function ContentLink({ href, class: className, title, children }: Props) {
  return (
    <a
      href={href}
      class={className}
      title={title}
      onClick={(event) => {
        if (!isPlainClick(event) || href.startsWith('/#')) return;
        event.preventDefault();
        openContent(href);
      }}
    >
      {children}
    </a>
  );
}

/** Shows content in the viewer, like a link. @param isReplacing as of `goToView`. */
export function openContent(path: string, isReplacing = false): void {
  // The viewer would load this document again, which would end the publication.
  if (publishSession.isWorking && !isServedByWorker()) openBare(path);
  else goToView(path, isReplacing);
}

/** Loads content in place of the viewer. */
export function openInPlace(path: string): void {
  if (publishSession.isWorking) {
    goToView('/', true);
    openBare(path);
  } else location.replace(path);
}

/** Opens a tab. If the browser blocks it, the browser asks the user whether to leave this page. */
function openBare(path: string): void {
  const tab = window.open('about:blank');
  if (tab) {
    tab.opener = null;
    tab.location.replace(new URL(path, location.href));
  } else location.assign(path);
}
