import { Address } from '../../address.ts';

/** An address, also as a link. */
export function addressIn(text: string): Address | undefined {
  const hex = text.replace(/^(ant|autonomi):\/\//i, '').replace(/\/$/, '');
  return Address.isHex(hex) ? Address.fromHex(hex) : undefined;
}
