import { useMemo } from 'preact/hooks';
import { CodeReader } from '../code/code-reader.tsx';
import type { TextReaderProps } from '../file-reader.tsx';
import { readerTexts } from '../texts/texts.ts';
import { JsonTree } from './json-tree.tsx';
import { type JsonValue, parseJson } from './parse-json.ts';

/** JSON as a tree. Text that is not JSON, or only the start of it, is shown as text. */
export function JsonReader(props: TextReaderProps) {
  const { text, isCut, name } = props;
  const t = readerTexts();
  const parsed = useMemo(() => (isCut ? { problem: t.json.tooLarge } : parse(text)), [text, isCut, t]);
  if ('value' in parsed) return <JsonTree root={parsed.value} name={name} />;
  return (
    <>
      <p class="note note-problem reader-note">{t.plainBecause(parsed.problem)}</p>
      <CodeReader {...props} />
    </>
  );
}

function parse(text: string): { value: JsonValue } | { problem: string } {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
