import { formatUnits, parseAnt } from '../../payment/amounts.ts';
import { locale } from '../texts/texts.ts';

const exact = { maximumFractionDigits: 18 } as const;

/** @param atto an amount of the token. @returns all of its digits, as the user's language writes numbers. */
export function localAnt(atto: bigint): string {
  return `${localUnits(atto)} ANT`;
}

/** @param wei an amount of ether. */
export function localEther(wei: bigint): string {
  return `${localUnits(wei)} ETH`;
}

/** To six decimals of the unit: more would only look exact. */
export function roundedAmount(value: bigint): bigint {
  const unit = 10n ** 12n;
  return ((value + unit / 2n) / unit) * unit;
}

/** The number of an amount for a field, which {@link parseLocalAnt} reads. */
export function localInput(atto: bigint): string {
  return format(atto, { ...exact, useGrouping: false });
}

/**
 * @param text a decimal number with the separator of the user’s language. Another separator is refused, because `1.500` is
 *   not the same number in all languages.
 * @returns atto, or undefined if it is not a number with at most 18 decimals.
 */
export function parseLocalAnt(text: string): bigint | undefined {
  const separator = new Intl.NumberFormat(locale)
    .formatToParts(0.5)
    .find(({ type }) => type === 'decimal')!.value;
  const [whole, ...fraction] = text.trim().split(separator);
  return fraction.some((part) => /\D/.test(part)) || /\D/.test(whole!)
    ? undefined
    : parseAnt([whole, ...fraction].join('.'));
}

function localUnits(value: bigint): string {
  return format(value, exact);
}

/** A string keeps the digits that a floating-point number would lose. */
function format(value: bigint, options: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locale, options).format(formatUnits(value) as Intl.StringNumericLiteral);
}
