import * as v from 'valibot';
import { Address } from '../../address.ts';
import { AntwayError, type ErrorCode } from '../../errors.ts';
import * as s from '../../schema.ts';

const requiredText = v.pipe(v.string('it is missing'), v.nonEmpty('it is missing'));

/** An address in a body. Parsing throws AntwayError `BAD_ADDRESS` for another text. */
export const addressText = v.pipe(requiredText, v.transform(Address.fromHex));

/** @throws AntwayError `REFUSED` if the `address` parameter is missing, `BAD_ADDRESS` if it is invalid. */
export function addressIn({ searchParams }: URL): Address {
  return Address.fromHex(required(searchParams.get('address'), 'address'));
}

/** Checks a parameter or a form's field. @throws AntwayError `REFUSED` if it is missing or empty. */
export function required(value: unknown, name: string): string {
  return s.parse(requiredText, value, 'REFUSED', '', name);
}

/** Parses a JSON body. @throws AntwayError `REFUSED` if it is not JSON, `code` if it differs from the schema. */
export async function bodyOf<T>(
  request: Request,
  schema: s.Schema<T>,
  code: ErrorCode = 'REFUSED',
): Promise<T> {
  return s.parse(schema, await jsonOf(request), code);
}

/** @throws AntwayError `REFUSED` if the body is not JSON. */
export async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch (cause) {
    throw new AntwayError('REFUSED', 'The body is not JSON.', {}, { cause });
  }
}
