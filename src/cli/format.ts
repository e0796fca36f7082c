const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** A number of bytes for people: `1 byte`, `12.3 MB` (powers of 1000). */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return '1 byte';
  let value = bytes;
  let unit = 0;
  // From 999.95 on, one decimal would show as 1000.0.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `1 file`, `2 files`. */
export function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
