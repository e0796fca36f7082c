import { locale, texts } from './texts/texts.ts';

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
  return `${value.toLocaleString(locale, { maximumFractionDigits: digits })} ${units[unit]}`;
}

/** A whole number with the reader's own group separators. */
export function formatCount(count: number): string {
  return count.toLocaleString(locale);
}

/** `3 chunks`, in the reader's language. */
export function formatChunks(count: number): string {
  return texts.common.chunks(count, formatCount(count));
}

/** `3 files`, in the reader's language. */
export function formatFiles(count: number): string {
  return texts.common.files(count, formatCount(count));
}

/** A share between 0 and 1 as whole percent. All is only said of all: 99.9 % is written as 99 %. */
export function formatShare(share: number): string {
  const percent = Math.min(Math.floor(share * 100), 100) / 100;
  return percent.toLocaleString(locale, { style: 'percent' });
}

/** Milliseconds, as fine as they matter: `0.4 ms`, `38 ms`, `1.2 s`. */
export function formatMilliseconds(milliseconds: number): string {
  const [value, unit, digits] =
    milliseconds >= 1000 ? [milliseconds / 1000, 's', 1] : [milliseconds, 'ms', milliseconds < 10 ? 1 : 0];
  return `${value.toLocaleString(locale, { maximumFractionDigits: digits as number })} ${unit}`;
}

/** A span of time for people who wait, no finer than they need it: `8 s`, `3 min`, `2 h`. */
export function formatSpan(seconds: number): string {
  const [value, unit] =
    seconds < 60 ? [seconds, 'second'] : seconds < 3600 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  const style = { style: 'unit', unit: unit as string, unitDisplay: 'short' } as const;
  return Math.max(1, Math.round(value as number)).toLocaleString(locale, style);
}

/** An address short enough for a line: its first and last characters. */
export function shortAddress(hex: string): string {
  return `${hex.slice(0, 8)}…${hex.slice(-6)}`;
}

/** A moment relative to now, no finer than a minute: `3 min. ago`. Both in milliseconds since 1970. */
export function formatAge(at: number, now: number): string {
  const relative = relativeTime();
  const minutes = Math.round((at - now) / 60_000);
  if (Math.abs(minutes) < 60) return relative.format(Math.min(0, minutes), 'minute');
  const hours = Math.round(minutes / 60);
  if (Math.abs(hours) < 24) return relative.format(hours, 'hour');
  return relative.format(Math.round(hours / 24), 'day');
}

let relativeFormat: { locale: string | undefined; format: Intl.RelativeTimeFormat } | undefined;

/** Kept: making one costs more than a thousand uses. */
function relativeTime(): Intl.RelativeTimeFormat {
  if (relativeFormat?.locale !== locale || !relativeFormat) {
    const options = { numeric: 'auto', style: 'short' } as const;
    relativeFormat = { locale, format: new Intl.RelativeTimeFormat(locale, options) };
  }
  return relativeFormat.format;
}

/** The path of a URL as people read it, or as it is when its escapes are not UTF-8. */
export function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
