import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { texts } from './texts/texts.ts';

/** @param what the name of the text for screen readers. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState('');

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(texts.common.copied);
    } catch {
      setSaid(texts.common.notCopied);
    }
  }

  return (
    <span class="copy">
      <Button look="quiet" isSmall aria-label={texts.publish.copyOf(what)} onClick={copy}>
        {texts.common.copy}
      </Button>
      <span class="note" role="status">
        {said}
      </span>
    </span>
  );
}
