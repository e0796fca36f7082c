import { useState } from 'preact/hooks';

interface Props {
  /** 64 hex digits. They determine the pattern. */
  address: string;
  /** The URL of the site's icon on this origin, if it has one. */
  icon?: string | null | undefined;
  /** The URL of a wide picture on this origin. It covers the pattern. */
  picture?: string | null | undefined;
}

/**
 * A picture of a site: a landscape that its address determines, with the site's icon or picture on it. It is decoration:
 * the title stands beside it.
 * Security: pictures of strangers appear in `img` elements only, where they cannot run scripts, from URLs of this origin.
 */
export function Cover({ address, icon, picture }: Props) {
  const { hue, sun, hills } = landscapeOf(address);
  return (
    <span class="cover" style={{ '--hue': hue }} aria-hidden="true">
      <svg viewBox="0 0 160 100" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
        <circle cx={sun.x} cy={sun.y} r={sun.r} />
        {hills.map((path) => (
          <path key={path} d={path} />
        ))}
      </svg>
      <Picture key={picture} url={picture} class="cover-picture" />
      {!picture && <Picture key={icon} url={icon} class="cover-icon" />}
    </span>
  );
}

/** Shows nothing if the picture cannot be loaded. */
function Picture({ url, class: className }: { url: string | null | undefined; class: string }) {
  const [isBroken, setBroken] = useState(false);
  if (!url || isBroken) return null;
  return <img src={url} class={className} alt="" loading="lazy" onError={() => setBroken(true)} />;
}

/** The same address always has the same landscape: a hue, the place of the sun, and three hills. */
function landscapeOf(address: string) {
  /** The byte at a place of the address, as a number between two bounds. */
  const byte = (at: number, from: number, to: number) =>
    Math.round(from + (Number.parseInt(address.slice(2 * at, 2 * at + 2), 16) / 255) * (to - from));
  const hill = (n: number) => {
    const [a, b, c, d] = [0, 1, 2, 3].map((i) => byte(4 + 4 * n + i, 34, 62) + 17 * n);
    return `M0 ${a}C53 ${b} 107 ${c} 160 ${d}V100H0Z`;
  };
  return {
    hue: byte(0, 0, 359),
    sun: { x: byte(1, 20, 140), y: byte(2, 14, 42), r: byte(3, 7, 15) },
    hills: [hill(0), hill(1), hill(2)],
  };
}
