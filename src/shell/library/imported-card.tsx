import { useEffect, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { ContentLink } from '../content-link.tsx';
import { formatCount } from '../format.ts';
import { Icon } from '../icons.tsx';
import { SiteIcon } from '../open/site-icon.tsx';
import { texts } from '../texts/texts.ts';
import type { ImportedSite } from './site-exchange.ts';

export interface ImportedCardProps {
  site: ImportedSite;
  onClose: () => void;
}

/** The site that was just imported, and the way to it. */
export default function ImportedCard({ site, onClose }: ImportedCardProps) {
  const { title, count, path, icon, size, refused } = site;
  const url = useBlobUrl(icon);
  const t = texts.library;
  return (
    <section class="card imported" aria-labelledby="imported-title">
      <SiteIcon key={url} title={title} icon={url} />
      <div class="imported-text">
        <h2 id="imported-title">
          <bdi>{title}</bdi>, {count}.
        </h2>
        <p class="note">
          {size && `${size}. `}
          {refused > 0 ? t.partsRefused(refused, formatCount(refused)) : t.importedNote}
        </p>
      </div>
      <ContentLink class="button button-small" href={path}>
        {t.openImported}
      </ContentLink>
      <Button look="icon" aria-label={t.closeImported} onClick={onClose}>
        <Icon name="close" size={18} />
      </Button>
    </section>
  );
}

/** A URL of a blob while the component is shown. */
function useBlobUrl(blob: Blob | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!blob) return;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => {
      setUrl(null);
      URL.revokeObjectURL(made);
    };
  }, [blob]);
  return url;
}
