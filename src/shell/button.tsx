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

/**
 * A button that does not submit its form, unless its type says so. The button ignores the second click of a double click:
 * after the first click, another button can be in the same place, such as one that cancels what the first one began.
 */
export function Button({ look = 'main', isSmall = false, type = 'button', onClick, ...rest }: Props) {
  return (
    <button
      {...rest}
      type={type}
      class={isSmall ? `${classes[look]} button-small` : classes[look]}
      onClick={(event) => {
        if (event.detail > 1) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
