import type { ComponentChildren } from 'preact';
import { isPlainClick } from './plain-click.ts';
import { goTo, hrefOf, type Screen } from './route.ts';

interface Props {
  to: Screen;
  isCurrent?: boolean;
  class?: string;
  children: ComponentChildren;
}

/** It has a real URL for new tabs and bookmarks. A plain click changes the screen in this document. */
export function ScreenLink({ to, isCurrent = false, class: className, children }: Props) {
  return (
    <a
      href={hrefOf(to)}
      class={className}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (!isPlainClick(event)) return;
        event.preventDefault();
        goTo(to);
      }}
    >
      {children}
    </a>
  );
}
