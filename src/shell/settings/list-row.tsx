import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { Icon } from '../icons.tsx';
import { texts } from '../texts/texts.ts';

interface Props {
  name: string;
  address: string;
  /** A note after the name. */
  children?: ComponentChildren;
  /** False for a list of the host, which the user cannot remove. */
  isOwn: boolean;
  /** The accessible name of the button. */
  removeLabel: string;
  onRemove: () => unknown;
}

/** A list that the gateway reads: its name and its address, and a button to remove it. */
export function ListRow({ name, address, children, isOwn, removeLabel, onRemove }: Props) {
  return (
    <li>
      <span class="setting-name" title={address}>
        <bdi>{name}</bdi>
        {children}
      </span>
      <span class="setting-actions">
        {isOwn ? (
          <Button look="icon" aria-label={removeLabel} onClick={onRemove}>
            <Icon name="close" size={18} />
          </Button>
        ) : (
          <span class="label">{texts.settings.ofHost}</span>
        )}
      </span>
    </li>
  );
}
