import { type NameBook, type NameMeaning, written } from '../../names/name-book.ts';
import { ContentLink } from '../content-link.tsx';
import { Section } from '../section.tsx';
import { shelfTexts } from '../texts/later.ts';
import { texts } from '../texts/texts.ts';

/** The user's names and those of the host. */
export function Names({ names }: { names: NameBook }) {
  const own = names.all.filter(({ source }) => source.kind !== 'list');
  if (own.length === 0) return null;
  return (
    <Section id="names" title={texts.open.names}>
      <NameLinks names={own} book={names} />
    </Section>
  );
}

/** The names of each list, with the list's label. A list that is read for the first time arrives late. */
export function ListedNames({ names, lists }: { names: NameBook; lists: readonly string[] }) {
  const ofList = (label: string) =>
    names.all.filter(({ source }) => source.kind === 'list' && source.label === label);
  return (
    <>
      {lists.map((label) => {
        const listed = ofList(label);
        return (
          listed.length > 0 && (
            <Section key={label} id={`names-of-${label}`} title={shelfTexts().namesOf(label)}>
              <NameLinks names={listed} book={names} />
            </Section>
          )
        );
      })}
    </>
  );
}

/** Security: a name of the user or of a list opens the address that it has now, and not a URL that may change. */
function NameLinks({ names, book }: { names: readonly NameMeaning[]; book: NameBook }) {
  return (
    <ul class="name-list">
      {names.map((meaning) => {
        const { name, source, address } = meaning;
        const others = book.conflictsOf(meaning);
        return (
          <li key={name}>
            <ContentLink href={`/${source.kind === 'host' ? name : address}/`} title={address}>
              <bdi class="name-text">{written(meaning)}</bdi>
            </ContentLink>
            {others.length > 0 && (
              <bdi class="note note-problem">{shelfTexts().conflict(others.map(written).join(', '))}</bdi>
            )}
          </li>
        );
      })}
    </ul>
  );
}
