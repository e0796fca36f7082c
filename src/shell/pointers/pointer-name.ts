import type { OwnedPointer } from '../../owner/owned-pointers.ts';
import { pointerTexts } from '../texts/pointers.ts';

export function nameOf({ label, address }: OwnedPointer): string {
  return label || `${pointerTexts().unnamed} (${address.hex.slice(0, 8)}…)`;
}

/** The name of a pointer's passkey, in the list of the user's passkeys. */
export function passkeyName(label: string): string {
  return label.trim() || pointerTexts().unnamed;
}
