import { useState } from 'preact/hooks';

interface Props {
  title: string;
  /** A URL of this origin. Null for a site without an icon. */
  icon: string | null;
}

/** A site's own icon, or the first character of its title. It is decoration: the title stands next to it. */
export function SiteIcon({ title, icon }: Props) {
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
