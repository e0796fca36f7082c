import { useEffect, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { viewerTexts } from '../texts/viewer.ts';

/**
 * Covers the frame when the site led it out of the gateway. The shell's policy has stopped that, so that no page of
 * another host appears below the bar. Offers the link for a tab.
 */
export function BlockedLink({ onBack }: { onBack: () => void }) {
  const t = viewerTexts();
  const [blocked, setBlocked] = useState<{ url: URL | null } | null>(null);
  useEffect(() => {
    const look = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent) => {
      if (effectiveDirective !== 'frame-src') return;
      const url = URL.canParse(blockedURI) ? new URL(blockedURI) : null;
      setBlocked({ url: url && /^https?:$/.test(url.protocol) ? url : null });
    };
    document.addEventListener('securitypolicyviolation', look);
    return () => document.removeEventListener('securitypolicyviolation', look);
  }, []);
  if (!blocked) return null;
  const { url } = blocked;
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
