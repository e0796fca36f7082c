import { Address } from '../../address.ts';
import type { Publication } from '../../gateway/state/publications.ts';
import type { PointerTarget } from '../../owner/sign-pointer.ts';
import { titleOfPublication } from '../published/published-row.tsx';
import { TextField } from '../text-field.tsx';
import { pointerTexts } from '../texts/pointers.ts';

/** Where a pointer shall lead: the id of a publication, or what the user typed. */
export interface PointerContent {
  /** Empty for another address. */
  publication: string;
  typed: string;
}

/** @param wanted the address to choose. By default the newest publication is chosen. */
export function firstContent(
  publications: readonly Publication[],
  wanted = publications[0]?.id ?? '',
): PointerContent {
  const isListed = publications.some(({ id }) => id === wanted);
  return isListed ? { publication: wanted, typed: '' } : { publication: '', typed: wanted };
}

/** @returns undefined if no address is typed. The kind of a typed address is not known. */
export function targetOf({ publication, typed }: PointerContent): PointerTarget | Address | undefined {
  if (publication) return { kind: 'chunk', target: Address.fromHex(publication) };
  const hex = typed
    .trim()
    .replace(/^(ant|autonomi):\/\//, '')
    .replace(/\/$/, '')
    .toLowerCase();
  return /^[0-9a-f]{64}$/.test(hex) ? Address.fromHex(hex) : undefined;
}

interface Props {
  /** Public publications, the newest first. */
  publications: readonly Publication[];
  content: PointerContent;
  isBad: boolean;
  onChange: (content: PointerContent) => void;
}

export function ContentChoice({ publications, content, isBad, onChange }: Props) {
  const t = pointerTexts();
  return (
    <>
      {publications.length > 0 && (
        <label class="field">
          <span class="field-label">{t.content}</span>
          <select
            id="pointer-content"
            class="input"
            value={content.publication}
            onChange={({ currentTarget }) => onChange({ ...content, publication: currentTarget.value })}
          >
            {publications.map((each) => (
              <option key={each.id} value={each.id}>
                {titleOfPublication(each)} · {each.id.slice(0, 8)}…
              </option>
            ))}
            <option value="">{t.otherContent}</option>
          </select>
        </label>
      )}
      {content.publication === '' && (
        <TextField
          id="pointer-address"
          label={t.address}
          note={isBad ? t.badAddress : t.addressNote}
          isMono
          isBad={isBad}
          value={content.typed}
          onInput={(typed) => onChange({ ...content, typed })}
        />
      )}
    </>
  );
}
