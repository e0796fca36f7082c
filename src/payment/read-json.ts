import { ByteReader } from '../peers/transports/byte-reader.ts';

/** The answer has another form, or is too long. */
export class BadAnswer extends Error {}

/**
 * Reads the JSON of an answer.
 * @throws BadAnswer if it is none, or has more than `maxBytes`; the error of the connection if it breaks off.
 */
export async function readJson(response: Response, maxBytes: number): Promise<unknown> {
  const reader = new ByteReader(response.body ?? new Blob([]).stream(), () => undefined);
  const bytes = await reader.readToEnd(maxBytes);
  if (!bytes) {
    await reader.cancel();
    throw new BadAnswer('it is too long');
  }
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new BadAnswer('it is not JSON', { cause });
  }
}
