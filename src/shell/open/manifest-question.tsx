import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../button.tsx';
import { sanitizeLine } from '../sanitize-line.ts';
import { texts } from '../texts/texts.ts';

/** The content of a manifest from a link, before it is stored. */
export interface BroughtManifest {
  name: string | null;
  entries: number;
}

interface Props {
  manifest: BroughtManifest;
  onOpen: () => void;
  onRefuse: () => void;
}

/** Asks before a manifest is stored, because any page can link to one. */
export function ManifestQuestion({ manifest: { name, entries }, onOpen, onRefuse }: Props) {
  const refuse = useRef<HTMLButtonElement>(null);
  const t = texts.open.manifestQuestion;
  useEffect(() => refuse.current?.focus(), []);
  return (
    <div role="alertdialog" aria-labelledby="manifest-question" class="question">
      <p id="manifest-question">
        {t.title} {t.contents(name && sanitizeLine(name), entries)}
      </p>
      <p class="actions">
        <Button look="quiet" ref={refuse} onClick={onRefuse}>
          {t.refuse}
        </Button>
        <Button onClick={onOpen}>{t.open}</Button>
      </p>
    </div>
  );
}
