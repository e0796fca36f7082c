import type { ComponentChildren } from 'preact';

interface Props {
  title: string;
  intro: string;
  children?: ComponentChildren;
}

/** A screen's title. It gets the focus when the user opens the screen. */
export function ScreenHeading({ title, intro, children }: Props) {
  return (
    <div class="screen-heading">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        <p class="intro">{intro}</p>
      </div>
      {children && <div class="screen-actions">{children}</div>}
    </div>
  );
}
