import { useMemo, useState } from 'preact/hooks';
import { formatCount } from '../../format.ts';
import type { TextReaderProps } from '../file-reader.tsx';
import { codePointName, sanitizeName } from '../sanitize-name.ts';
import { useBounded } from '../show-more.tsx';
import { readerTexts } from '../texts/texts.ts';
import { useTask } from '../use-task.ts';
import { type Line, linesOf } from './code-lines.ts';
import { languageOf } from './languages.ts';

/** The most characters that are highlighted. Longer text has one colour. */
const mostHighlighted = 400_000;
const linesPerStep = 2_000;

/** Text with line numbers. Code has colours. */
export function CodeReader({ name, text, isCut }: TextReaderProps) {
  const t = readerTexts();
  const language = text.length <= mostHighlighted ? languageOf(name) : undefined;
  const { output } = useTask('highlight', language ? { text, language } : null);
  const lines = useMemo(() => linesOf(output ?? [text]), [output, text]);
  const { shown, more } = useBounded(lines.length, linesPerStep);
  const [isWrapped, setWrapped] = useState(false);
  const count = lines.filter(({ isContinued }) => !isContinued).length;
  return (
    <div class="reader-code">
      <p class="reader-tools">
        <span class="note">{t.code[isCut ? 'firstLines' : 'lines'](count, formatCount(count))}</span>
        <label class="reader-check">
          <input type="checkbox" checked={isWrapped} onChange={() => setWrapped(!isWrapped)} /> {t.code.wrap}
        </label>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section class="code-frame" aria-label={t.code.label(sanitizeName(name))} tabIndex={0}>
        <pre class={isWrapped ? 'code-text code-wrapped' : 'code-text'}>
          <code>
            {lines.slice(0, shown).map((line, at) => (
              <CodeLine key={at} line={line} />
            ))}
          </code>
        </pre>
      </section>
      {more}
    </div>
  );
}

function CodeLine({ line: { tokens, isContinued } }: { line: Line }) {
  return (
    <span class={isContinued ? 'code-line code-continued' : 'code-line'}>
      {tokens.map(({ text, classes }, at) => (
        <span key={at} class={classes || undefined}>
          {visible(text)}
        </span>
      ))}
      {'\n'}
    </span>
  );
}

/** Shows characters that change the direction of text: with them, code can look different from what it does. */
function visible(text: string) {
  if (!/\p{Bidi_Control}/u.test(text)) return text;
  return text.split(/(\p{Bidi_Control})/u).map((part) =>
    /^\p{Bidi_Control}$/u.test(part) ? (
      <span class="code-control" title={readerTexts().code.control(codePointName(part))}>
        {codePointName(part)}
      </span>
    ) : (
      part
    ),
  );
}
