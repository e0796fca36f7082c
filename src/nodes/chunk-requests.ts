import type { Address } from '../address.ts';
import { limits } from '../limits.ts';
import {
  type CandidateQuote,
  decodeCandidate,
  decodeChunkPut,
  decodePointerGet,
  decodePointerPut,
  encodeCandidate,
  encodeChunkPut,
  encodePointerGet,
  encodePointerPut,
} from './chunk-protocol.ts';
import type { ProvenChunk, ProvenState, RequestOptions } from './node-client.ts';
import { type NodeConnection, type RequestContent, smallFrame } from './node-connection.ts';
import { nodeLimits } from './node-limits.ts';

/** Asks a node for the price of a pool. @throws as `NodeClient.quoteCandidate`. */
export function requestCandidate(
  connection: NodeConnection,
  pool: Address,
  timestamp: number,
  options: RequestOptions,
): Promise<CandidateQuote> {
  // The price does not depend on the size.
  const body = (id: number) => [encodeCandidate(id, pool.bytes, nodeLimits.chunkBytes, timestamp)];
  return exchange(connection, options, { body }, decodeCandidate);
}

/**
 * Sends a chunk of a batch. @param onEnd as of `NodeConnection.request`.
 * @throws as `NodeClient.putBatchedChunk`.
 */
export function sendBatchedChunk(
  connection: NodeConnection,
  { address, bytes, proof }: ProvenChunk,
  options: RequestOptions,
  onEnd: () => void,
): Promise<void> {
  const body = (id: number) => encodeChunkPut(id, address.bytes, bytes, proof);
  const content = { body, workMs: nodeLimits.batchedPutMs };
  return exchange(
    connection,
    options,
    content,
    (answer, id) => decodeChunkPut(answer, id, address.bytes),
    onEnd,
  );
}

/** Asks a node for a pointer. @throws as `NodeClient.getPointer`. */
export function requestPointer(
  connection: NodeConnection,
  address: Address,
  options: RequestOptions,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const body = (id: number) => [encodePointerGet(id, address.bytes)];
  return exchange(connection, options, { body }, (answer, id) =>
    decodePointerGet(answer, id, address.bytes, limits.pointerBytes),
  );
}

/** Sends a state of a pointer. @throws as `NodeClient.putPointer`. */
export function sendPointer(
  connection: NodeConnection,
  { address, state, record, proof }: ProvenState,
  options: RequestOptions,
): Promise<'stored' | 'stale'> {
  const body = (id: number) => [encodePointerPut(id, record, proof)];
  return exchange(connection, options, { body, workMs: nodeLimits.putMs }, (answer, id) =>
    decodePointerPut(answer, id, address.bytes, state),
  );
}

/** Sends a message of the network's own protocol, and reads its answer. Both have the number of the request. */
async function exchange<T>(
  connection: NodeConnection,
  options: RequestOptions,
  content: RequestContent,
  decode: (answer: Uint8Array, id: number) => T,
  onEnd?: () => void,
): Promise<T> {
  const frame = smallFrame + nodeLimits.smallBodyBytes;
  const response = await connection.request({ type: 'chunk_protocol' }, frame, options, content, onEnd);
  return connection.parsed(response, () => decode(response.body, response.id));
}
