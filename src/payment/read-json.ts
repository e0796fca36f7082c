/** The answer has another form, or is too long. */
export class BadAnswer extends Error {}

/**
 * Reads the JSON of an answer.
 * @throws BadAnswer if it is none, or has more than `maxBytes`; the error of the connection if it breaks off.
 */
export async function readJson(response: Response, maxBytes: number): Promise<unknown> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    length += read.value.length;
    if (length > maxBytes) {
      await reader?.cancel();
      throw new BadAnswer('it is too long');
    }
    pieces.push(read.value);
  }
  try {
    return JSON.parse(await new Blob(pieces).text());
  } catch (cause) {
    throw new BadAnswer('it is not JSON', { cause });
  }
}
