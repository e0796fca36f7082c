import { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';

/**
 * Returns the `address` parameter.
 * @throws AntwayError `REFUSED` if it is missing, `BAD_ADDRESS` if it is invalid.
 */
export function addressIn({ searchParams }: URL): Address {
  return Address.fromHex(required(searchParams.get('address'), 'address'));
}

export function required(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new AntwayError('REFUSED', `“${name}” is missing.`);
}

/** Parses the body. @throws AntwayError `REFUSED` if the body is not JSON. */
export async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch (cause) {
    throw new AntwayError('REFUSED', 'The body is not JSON.', {}, { cause });
  }
}

/** Returns the value if it is an object, otherwise an empty object. */
export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
