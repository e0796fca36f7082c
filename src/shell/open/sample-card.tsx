import { useEffect } from 'preact/hooks';
import type { CatalogueEntry } from '../../server-config.ts';
import { ContentLink } from '../content-link.tsx';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import { sanitizeLine } from '../sanitize-line.ts';
import { shelfTexts } from '../texts/later.ts';
import { whenIdle } from '../when-idle.ts';
import { picturesOf } from './catalogue.tsx';
import { Cover } from './cover.tsx';

/** The site that the host recommends first, as one large link. */
export function SampleCard({ sample }: { sample: CatalogueEntry }) {
  const { address, icon, cover } = picturesOf(sample);
  // Most first visitors open the sample. The worker of its origin takes about a second to start.
  useEffect(() => whenIdle(() => void siteOriginClient.warm(address)), [address]);
  return (
    <ContentLink href={`/${address}/`} class="sample-card card" title={address}>
      <Cover address={address} icon={icon} picture={cover} />
      <span class="sample-text">
        <span class="label">{shelfTexts().sample}</span>
        <bdi class="sample-title">{sanitizeLine(sample.title)}</bdi>
        {sample.description && <bdi class="sample-description">{sanitizeLine(sample.description)}</bdi>}
        <span class="button">{shelfTexts().openSample}</span>
      </span>
    </ContentLink>
  );
}
