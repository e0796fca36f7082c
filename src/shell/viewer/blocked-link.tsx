import { Button } from '../button.tsx';
import { viewerTexts } from '../texts/viewer.ts';
import type { Blocked } from './use-blocked-link.ts';

/** Covers the frame after the site led it out of the gateway. Offers the link for a tab. */
export function BlockedLink({ blocked: { url }, onBack }: { blocked: Blocked; onBack: () => void }) {
  const t = viewerTexts();
  return (
    <div class="viewer-message viewer-cover" role="alert">
      <h2>{t.blockedTitle}</h2>
      <p class="note">{url ? t.blockedNote(url.host) : t.blockedUnknown}</p>
      <p class="actions">
        <Button onClick={onBack}>{t.backToSite}</Button>
        {url && (
          <a class="button button-quiet" href={url.href} target="_blank" rel="noopener noreferrer">
            {t.openOutside(url.host)}
          </a>
        )}
      </p>
    </div>
  );
}
