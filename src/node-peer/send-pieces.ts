import type { ServerResponse } from 'node:http';

/**
 * Sends a body whose length the client knows, as fast as the client reads. The head is sent.
 * @throws Error if the pieces have another length, or the client has gone. Then the body must not end as if it were whole:
 *   `sendError` breaks the connection.
 */
export async function sendPieces(
  response: ServerResponse,
  pieces: AsyncIterable<Uint8Array>,
  length: number,
): Promise<void> {
  let rest = length;
  for await (const piece of pieces) {
    rest -= piece.length;
    if (rest < 0) break;
    if (!response.write(piece)) await readOn(response);
    if (response.destroyed) throw new Error('The client has gone.');
  }
  if (rest !== 0) throw new Error('The body has another length than its head says.');
  response.end();
}

/** Resolves when the client has read what was written, or has gone. */
export function readOn(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    if (response.destroyed || !response.writableNeedDrain) return resolve();
    response.once('drain', done);
    response.once('close', done);
  });
}
