import { useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { formatCount } from '../format.ts';
import { readerTexts } from './texts/texts.ts';

/** Shows a part of many rows, so that a stranger's file cannot fill the memory with elements. */
export function useBounded(count: number, step: number) {
  const [most, setMost] = useState(step);
  const shown = Math.min(count, most);
  const more =
    shown < count ? (
      <p class="show-more">
        <Button look="quiet" isSmall onClick={() => setMost(most + step)}>
          {`${readerTexts().showMore} (${formatCount(count - shown)})`}
        </Button>
      </p>
    ) : null;
  return { shown, more };
}
