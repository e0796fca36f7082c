import { ContentLink } from '../content-link.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';

/** @param names name → address. */
export function Names({ names }: { names: Readonly<Record<string, string>> }) {
  const entries = Object.entries(names);
  if (entries.length === 0) return null;
  return (
    <Section id="names" title={texts.open.names}>
      <ul class="name-list">
        {entries.map(([name, address]) => (
          <li key={name}>
            <ContentLink href={`/${name}/`} title={address}>
              <span class="name-text">{name}</span>
            </ContentLink>
          </li>
        ))}
      </ul>
    </Section>
  );
}
