import { useEffect, useState } from 'preact/hooks';

export interface Blocked {
  /** Null if the browser does not tell it, or if a tab cannot open it. */
  url: URL | null;
}

/**
 * Notices when a site leads its frame out of the gateway. The shell's policy stops that, so that no page of another host
 * appears below the bar.
 * @param key as of `ShownView`. @returns null if the frame of this key was not led out.
 */
export function useBlockedLink(key: number | null): Blocked | null {
  const [blocked, setBlocked] = useState<(Blocked & { key: number }) | null>(null);
  useEffect(() => {
    if (key === null) return;
    const look = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent) => {
      if (effectiveDirective !== 'frame-src') return;
      const url = URL.canParse(blockedURI) ? new URL(blockedURI) : null;
      setBlocked({ key, url: url && /^https?:$/.test(url.protocol) ? url : null });
    };
    document.addEventListener('securitypolicyviolation', look);
    return () => document.removeEventListener('securitypolicyviolation', look);
  }, [key]);
  return blocked?.key === key ? blocked : null;
}
