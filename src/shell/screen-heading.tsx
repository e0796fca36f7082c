import type { ComponentChildren } from 'preact';

interface Props {
  title: string;
  intro?: string;
  /** What can be done on the whole screen. */
  children?: ComponentChildren;
}

/** A screen's name. It takes the focus when somebody comes to the screen. */
export function ScreenHeading({ title, intro, children }: Props) {
  return (
    <div class="screen-heading">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {intro && <p class="intro">{intro}</p>}
      </div>
      {children && <div class="screen-actions">{children}</div>}
    </div>
  );
}
