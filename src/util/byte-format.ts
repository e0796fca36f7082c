const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/**
 * Returns a function that formats bytes for the user, in decimal units: `4.2 MB`. Create it once, because creating a format
 * costs more than using it.
 * @param digits `one`: always one decimal place from `kB` on, as in a column. `three`: at most three significant digits.
 */
export function byteFormat(locale: string | undefined, digits: 'one' | 'three'): (bytes: number) => string {
  const isFixed = digits === 'one';
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const fraction = new Intl.NumberFormat(
    locale,
    isFixed
      ? { minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false }
      : { maximumSignificantDigits: 3 },
  );
  return (bytes) => {
    let value = bytes;
    let unit = 0;
    // Larger values would be shown as 1000.
    while (value >= (isFixed && unit > 0 ? 999.95 : 999.5) && unit < units.length - 1) {
      value /= 1000;
      unit++;
    }
    return `${(unit > 0 ? fraction : whole).format(value)} ${units[unit]}`;
  };
}
