import { useEffect, useRef, useState } from 'preact/hooks';
import { language } from '../../texts/texts.ts';
import { CodeReader } from '../code/code-reader.tsx';
import type { TextReaderProps } from '../file-reader.tsx';
import { Loading } from '../loading.tsx';
import { sanitizeName } from '../sanitize-name.ts';
import { runTask } from '../tasks.ts';
import { readerTexts } from '../texts/texts.ts';
import { createDocumentFrame, fillDocumentFrame, followDocument, followFragments } from './document-frame.ts';
import { loadPictures } from './load-pictures.ts';
import { prepare } from './prepare.ts';

/** Markdown as a document. Text that cannot be converted is shown as it is. */
export function MarkdownReader(props: TextReaderProps) {
  const { text, name, location } = props;
  const t = readerTexts();
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'shown' | Error>('loading');

  useEffect(() => {
    const end = new AbortController();
    const stop: (() => void)[] = [];
    const show = async () => {
      const [html, { sanitize }] = await Promise.all([
        runTask('markdown', text, end.signal),
        import('./sanitize.ts'),
      ]);
      const fragment = sanitize(html);
      const { pictures } = prepare(fragment, location, globalThis.location.origin, t.markdown);
      const frame = createDocumentFrame(sanitizeName(name));
      const isLoaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
      place.current!.replaceChildren(frame);
      await isLoaded;
      end.signal.throwIfAborted();
      const main = fillDocumentFrame(frame, fragment, language);
      followFragments(main);
      stop.push(followDocument(frame, main), loadPictures(pictures, t.markdown.pictureMissing));
      setState('shown');
    };
    show().catch((error) => {
      if (!end.signal.aborted) setState(error as Error);
    });
    return () => {
      end.abort();
      for (const step of stop) step();
    };
  }, []);

  if (state instanceof Error) {
    return (
      <>
        <p class="note note-problem reader-note">{t.plainBecause(state.message)}</p>
        <CodeReader {...props} />
      </>
    );
  }
  return (
    <>
      {state === 'loading' && <Loading />}
      <div class="card reader-document" ref={place} />
    </>
  );
}
