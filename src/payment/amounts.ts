const decimals = 18;

/** @param atto an amount of the token. */
export function formatAnt(atto: bigint): string {
  return `${formatUnits(atto)} ANT`;
}

/** @param wei an amount of ether. */
export function formatEther(wei: bigint): string {
  return `${formatUnits(wei)} ETH`;
}

/** @returns a decimal number without needless zeros. */
export function formatUnits(value: bigint): string {
  const digits = value.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return digits.slice(0, -decimals) + (fraction && `.${fraction}`);
}

/** @param text a decimal number such as `1.5`. @returns atto, or undefined if it is not a number with at most 18 decimals. */
export const parseAnt = parseUnits;

/** As `parseAnt`. @returns wei. */
export const parseEther = parseUnits;

function parseUnits(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,18}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(decimals, '0'));
}
