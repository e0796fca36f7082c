import { locale, texts } from './texts/texts.ts';

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats bytes for the user, in decimal units: `4.2 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // Values from 999.5 on would be shown as 1000.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toLocaleString(locale, { maximumFractionDigits: digits })} ${units[unit]}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString(locale);
}

export function formatChunks(count: number): string {
  return texts.common.chunks(count, formatCount(count));
}

export function formatFiles(count: number): string {
  return texts.common.files(count, formatCount(count));
}

/** A share between 0 and 1 as whole percent, rounded down: 100 % means that nothing is missing. */
export function formatShare(share: number): string {
  const percent = Math.min(Math.floor(share * 100), 100) / 100;
  return percent.toLocaleString(locale, { style: 'percent' });
}

/** Milliseconds with suitable precision: `0.4 ms`, `38 ms`, `1.2 s`. */
export function formatMilliseconds(milliseconds: number): string {
  const [value, unit, digits] =
    milliseconds >= 1000 ? [milliseconds / 1000, 's', 1] : [milliseconds, 'ms', milliseconds < 10 ? 1 : 0];
  return `${value.toLocaleString(locale, { maximumFractionDigits: digits as number })} ${unit}`;
}

/** A time span with one coarse unit: `8 s`, `3 min`, `2 h`. */
export function formatSpan(seconds: number): string {
  const [value, unit] =
    seconds < 60 ? [seconds, 'second'] : seconds < 3600 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  const style = { style: 'unit', unit: unit as string, unitDisplay: 'short' } as const;
  return Math.max(1, Math.round(value as number)).toLocaleString(locale, style);
}

/** A moment relative to now, in minutes or coarser: `3 min. ago`. Both parameters are milliseconds since 1970. */
export function formatAge(at: number, now: number): string {
  const relative = relativeTime();
  const minutes = Math.round((at - now) / 60_000);
  if (minutes > -1) return relative.format(0, 'second');
  if (minutes > -60) return relative.format(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  if (Math.abs(hours) < 24) return relative.format(hours, 'hour');
  return relative.format(Math.round(hours / 24), 'day');
}

let relativeFormat: { locale: string | undefined; format: Intl.RelativeTimeFormat } | undefined;

/** The format is cached, because its construction costs more than a thousand uses. */
function relativeTime(): Intl.RelativeTimeFormat {
  if (relativeFormat?.locale !== locale || !relativeFormat) {
    const options = { numeric: 'auto', style: 'short' } as const;
    relativeFormat = { locale, format: new Intl.RelativeTimeFormat(locale, options) };
  }
  return relativeFormat.format;
}

/** Decodes the path of a URL for the user. Returns the path unchanged if its escapes are not UTF-8. */
export function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
