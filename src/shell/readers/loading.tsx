import { readerTexts } from './texts/texts.ts';

export function Loading() {
  return (
    <p class="reader-loading" role="status">
      {readerTexts().loading}
    </p>
  );
}
