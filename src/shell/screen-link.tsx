import type { ComponentChildren } from 'preact';
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
        if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        goTo(to);
      }}
    >
      {children}
    </a>
  );
}
