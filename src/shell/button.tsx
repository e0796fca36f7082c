import type { ComponentProps } from 'preact';

interface Props extends Omit<ComponentProps<'button'>, 'class'> {
  /** `main` is the action that the user most likely wants. `icon` has an icon instead of a text. */
  look?: 'main' | 'quiet' | 'danger' | 'link' | 'icon';
  isSmall?: boolean;
}

const classes = {
  main: 'button',
  quiet: 'button button-quiet',
  danger: 'button button-danger',
  link: 'link',
  icon: 'icon-button',
};

/** A button that does not submit its form, unless its type says so. */
export function Button({ look = 'main', isSmall = false, type = 'button', ...rest }: Props) {
  return <button {...rest} type={type} class={isSmall ? `${classes[look]} button-small` : classes[look]} />;
}
