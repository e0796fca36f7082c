import { byteFormat } from '../util/byte-format.ts';
import { replaceDisruptive } from '../util/sanitize-text.ts';
import { locale, texts } from './texts/texts.ts';

/** Formats bytes for the user, in decimal units: `4.2 MB`. */
export function formatBytes(bytes: number): string {
  return bytesIn()(bytes);
}

const bytesIn = perLocale((locale) => byteFormat(locale, 'three'));

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

const relativeTime = perLocale(
  (locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
);

/** The format is cached, because its construction costs more than a thousand uses. */
function perLocale<T>(create: (locale: string | undefined) => T): () => T {
  let cached: { locale: string | undefined; format: T } | undefined;
  return () => {
    if (!cached || cached.locale !== locale) cached = { locale, format: create(locale) };
    return cached.format;
  };
}

/** Decodes the path of a URL for the user, without marks of direction. Escapes that are not UTF-8 stay. */
export function decodePath(path: string): string {
  return replaceDisruptive(decoded(path), '');
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
