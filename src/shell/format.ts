const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Bytes as people read them, in decimal units: `4.2 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 999.95 would be written as 1000.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toLocaleString(undefined, { maximumFractionDigits: digits })} ${units[unit]}`;
}

/** A whole number with the reader's own group separators. */
export function formatCount(count: number): string {
  return count.toLocaleString();
}

/** An address short enough for a line: its first and last characters. */
export function shortAddress(hex: string): string {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

/** A moment relative to now, no finer than a minute: `3 min. ago`. Both in milliseconds since 1970. */
export function formatAge(at: number, now: number): string {
  const minutes = Math.round((at - now) / 60_000);
  if (Math.abs(minutes) < 60) return relative.format(Math.min(0, minutes), 'minute');
  const hours = Math.round(minutes / 60);
  if (Math.abs(hours) < 24) return relative.format(hours, 'hour');
  return relative.format(Math.round(hours / 24), 'day');
}

/** The path of a URL as people read it, or as it is when its escapes are not UTF-8. */
export function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
