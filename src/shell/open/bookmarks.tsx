import { ContentLink } from '../content-link.tsx';
import { shortAddress } from '../format.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';

export function Bookmarks({ names }: { names: ReadonlyMap<string, string> }) {
  if (names.size === 0) return null;
  return (
    <Section id="bookmarks" title={texts.open.bookmarks}>
      <ul class="bookmark-list">
        {[...names].map(([name, address]) => (
          <li key={name}>
            <ContentLink href={`/${name}/`} title={address}>
              <span class="bookmark-name">{name}</span>
              <span class="address">{shortAddress(address)}</span>
            </ContentLink>
          </li>
        ))}
      </ul>
    </Section>
  );
}
