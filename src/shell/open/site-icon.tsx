import { useState } from 'preact/hooks';

interface Props {
  title: string;
  /** A URL of this origin; null for a site that has none. */
  icon?: string | null | undefined;
}

/** A site's own picture, or the first character of its title. Decoration: the title stands beside it. */
export function SiteIcon({ title, icon = null }: Props) {
  const [isBroken, setBroken] = useState(false);
  return (
    <span class="site-icon" aria-hidden="true">
      {icon && !isBroken ? (
        <img src={icon} alt="" width="24" height="24" loading="lazy" onError={() => setBroken(true)} />
      ) : (
        [...title][0]?.toUpperCase()
      )}
    </span>
  );
}
