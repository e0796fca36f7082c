import type { ErrorCode } from '../../errors.ts';
import { Html } from './page.ts';

/** Outlines on a grid of 24, as the shell's icons. */
const shapes = {
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13zM15.5 15.5 20 20',
  cable: 'M4 20l5-5M15 9l5-5M7 12l5 5a3.5 3.5 0 0 0 5-5l-5-5a3.5 3.5 0 0 0-5 5zM3 3l18 18',
  shield: 'M12 3l7 3v6c0 4-3 7-7 9-4-2-7-5-7-9V6zM9 9l6 6M15 9l-6 6',
  warning: 'M12 4 2.5 20h19zM12 10v4.5M12 17.2v.3',
};

const icons: Partial<Record<ErrorCode, keyof typeof shapes>> = {
  NOT_FOUND: 'search',
  PEERS_UNREACHABLE: 'cable',
  OFFLINE: 'cable',
  HOST_UNREACHABLE: 'cable',
  DENIED: 'shield',
  REFUSED: 'shield',
  CORRUPT: 'shield',
};

/** Decoration: the title says the same. */
export function iconOf(code: ErrorCode): Html {
  const shape = shapes[icons[code] ?? 'warning'];
  return new Html(
    `<svg class="icon" viewBox="0 0 24 24" width="44" height="44" aria-hidden="true"><path d="${shape}"/></svg>`,
  );
}
