import { shortAddress } from './format.ts';
import type { GatewayConfig } from './gateway-api.ts';
import { Section } from './section.tsx';
import type { Resource } from './use-resource.ts';

interface Props {
  config: Resource<GatewayConfig>;
  names: ReadonlyMap<string, string>;
}

/** The names that this gateway's host gives to addresses. Hidden when there are none. */
export function Bookmarks({ config, names }: Props) {
  if (names.size === 0 && !config.error) return null;
  return (
    <Section id="bookmarks" title="Bookmarks" error={config.error}>
      <ul class="bookmark-list">
        {[...names].map(([name, address]) => (
          <li key={name}>
            <a href={`/${name}/`} title={address}>
              <span class="bookmark-name">{name}</span>
              <span class="address">{shortAddress(address)}</span>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
