import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../texts/texts.ts';

/** What is in a manifest that a link brought, before it is stored. */
export interface BroughtManifest {
  name: string | null;
  entries: number;
}

interface Props {
  manifest: BroughtManifest;
  onOpen: () => void;
  onRefuse: () => void;
}

/** Asks before a manifest is stored: any page can bring one by a link. */
export function ManifestQuestion({ manifest: { name, entries }, onOpen, onRefuse }: Props) {
  const refuse = useRef<HTMLButtonElement>(null);
  const t = texts.open.manifestQuestion;
  useEffect(() => refuse.current?.focus(), []);
  return (
    <div role="alertdialog" aria-labelledby="manifest-question" class="question">
      <p id="manifest-question">
        {t.title} {t.contents(name, entries)}
      </p>
      <p class="actions">
        <button ref={refuse} type="button" class="button button-quiet" onClick={onRefuse}>
          {t.refuse}
        </button>
        <button type="button" class="button" onClick={onOpen}>
          {t.open}
        </button>
      </p>
    </div>
  );
}
