import { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';

/** @throws AntwayError `REFUSED` when it is missing, `BAD_ADDRESS` when it is none. */
export function addressIn({ searchParams }: URL): Address {
  return Address.fromHex(required(searchParams.get('address'), 'address'));
}

export function required(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new AntwayError('REFUSED', `“${name}” is missing.`);
}

/** The body's value. @throws AntwayError `REFUSED`. */
export async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch (cause) {
    throw new AntwayError('REFUSED', 'The body is not JSON.', {}, { cause });
  }
}

/** The members of an object; none for any other value. */
export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
