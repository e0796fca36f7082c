import { useState } from 'preact/hooks';
import { formatBytes } from '../format.ts';
import { useHistoryState } from '../history-state.ts';
import { CodeReader } from './code/code-reader.tsx';
import { Player } from './folder/player.tsx';
import { JsonReader } from './json/json-reader.tsx';
import { kindOfName, kindOfType, type TextKind, textKinds } from './kinds.ts';
import { nameOf, type ReaderLocation } from './location.ts';
import { MarkdownReader } from './markdown/markdown-reader.tsx';
import { PictureReader } from './picture-reader.tsx';
import { decodeText, looksLikeText, type ReaderContent } from './read-content.ts';
import { ReaderHeading } from './reader-heading.tsx';
import { TableReader } from './table/table-reader.tsx';
import { readerTexts } from './texts/texts.ts';

export interface HeadingOf {
  location: ReaderLocation;
  title: string;
  site: string;
}

/** The properties of each reader of text. */
export interface TextReaderProps {
  location: ReaderLocation;
  name: string;
  text: string;
  /** Whether the text is only the start of the file. */
  isCut: boolean;
}

const textReaders = { markdown: MarkdownReader, table: TableReader, json: JsonReader, code: CodeReader };

interface Props {
  heading: HeadingOf;
  file: Extract<ReaderContent, { kind: 'file' }>;
}

/** Shows a file with the reader that fits it. The user can choose another reader for text. */
export function FileReader({ heading, file }: Props) {
  const t = readerTexts();
  const { location } = heading;
  const name = nameOf(location) || heading.title;
  const kind = kindOf(name, file);
  const [{ as }, choose] = useHistoryState<{ as: TextKind | null }>('reader', { as: null });
  const isText = kind !== undefined && kind !== 'picture' && kind !== 'media';
  const shown = isText && as && textKinds.includes(as) ? as : kind;
  const [text] = useState(() => (isText ? decodeText(file.bytes, file.type, file.isCut) : ''));
  const TextReader = isText ? textReaders[shown as TextKind] : undefined;
  return (
    <>
      <ReaderHeading {...heading} isThere>
        {isText && (
          <label class="reader-choice">
            <span class="visually-hidden">{t.showAs}</span>
            <select
              value={shown}
              onChange={({ currentTarget }) => choose({ as: currentTarget.value as TextKind })}
            >
              {textKinds.map((kind) => (
                <option key={kind} value={kind}>
                  {t.kinds[kind]}
                </option>
              ))}
            </select>
          </label>
        )}
      </ReaderHeading>
      {isText && file.isCut && (
        <p class="note reader-note">
          {t.cut(formatBytes(file.bytes.length), file.size === null ? null : formatBytes(file.size))}
        </p>
      )}
      {isText && file.bytes.length === 0 && <p class="empty">{t.emptyFile}</p>}
      {TextReader && file.bytes.length > 0 && (
        <TextReader key={shown} location={location} name={name} text={text} isCut={file.isCut} />
      )}
      {kind === 'picture' && <PictureReader location={location} name={name} />}
      {kind === 'media' && <Player title={name} items={[{ location, name }]} />}
      {!kind && <p class="empty">{t.noReader(file.type.replace(/;.*/s, '') || '?')}</p>}
    </>
  );
}

/** The name tells more than the type: the gateway takes the type of a file without a name from its bytes. */
function kindOf(name: string, { type, bytes }: Props['file']) {
  const kind = kindOfName(name) ?? kindOfType(type);
  const isMedia = kind === 'picture' || kind === 'media';
  return kind && !isMedia && !looksLikeText(bytes) ? undefined : kind;
}
