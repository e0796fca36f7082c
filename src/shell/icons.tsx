import type { Screen } from './route.ts';

/** Outlines on a grid of 24, in the text's colour. The icons are decoration: each has a label next to it. */
const shapes = {
  open: 'M4 12h14M12 5l7 7-7 7',
  library: 'M5 4h4v16H5zM9 4h4v16H9zM14.5 5.2l3.8-1 3.6 14.6-3.8 1z',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  publish: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
  settings: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 4.5v5M8 14.5v5',
  close: 'M6 6l12 12M18 6L6 18',
  pin: 'M12 21v-6M8 4h8l-1.2 6 3.2 5H6l3.2-5z',
  offline: 'M5 12.5l4.5 4.5L19 7.5',
  folder: 'M3 6h6l2 2.5h10V19H3z',
  more: 'M5 11.4a.6.6 0 1 0 0 1.2.6.6 0 1 0 0-1.2zM12 11.4a.6.6 0 1 0 0 1.2.6.6 0 1 0 0-1.2zM19 11.4a.6.6 0 1 0 0 1.2.6.6 0 1 0 0-1.2z',
  back: 'M20 12H6M12 5l-7 7 7 7',
  external: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  save: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  action: 'M13 3L5 14h6l-1 7 8-11h-6z',
  bookmark: 'M7 4h10v16l-5-4-5 4z',
  site: 'M3 5h18v14H3zM3 9.5h18',
  up: 'M12 19V6M6 11l6-6 6 6',
  home: 'M4 11.5L12 5l8 6.5M6.5 10v9h11v-9',
  share: 'M12 15V4M8 8l4-4 4 4M6 12H5v8h14v-8h-1',
  tab: 'M13 5h6v6M19 5l-8 8M10 6H5v13h13v-5',
  shield: 'M12 3.5l7 2.5v5.5c0 4.5-3 7.5-7 9-4-1.5-7-4.5-7-9V6zM9 11.5l2.2 2.2L15.2 9.5',
  warning: 'M12 4l9 16H3zM12 10v4.5M12 17v.5',
} satisfies Record<string, string> & Record<Screen, string>;

type IconName = keyof typeof shapes;

export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
