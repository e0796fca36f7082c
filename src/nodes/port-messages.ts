import { Address } from '../address.ts';
import { type ErrorCode, errorStatus } from '../errors.ts';
import { limits } from '../limits.ts';
import type { NodesStatus } from './nodes.ts';
import { portLimits } from './port-limits.ts';

/**
 * The messages between the worker, which reads records, and the leader, the page with the connections to nodes. The
 * two can be of different builds, so each checks all that the other sends.
 */

/**
 * The type of two messages. The leader sends it to the worker, with a port. The worker sends it to the pages that may
 * be leaders, when it needs one.
 */
export const nodesMessage = 'NODES' as const;

/** The part of a `MessagePort` that both sides use. */
export type Port = Pick<MessagePort, 'postMessage' | 'addEventListener' | 'start' | 'close'>;

export type RecordKind = 'chunk' | 'pointer';

export interface RecordRequest {
  type: 'request';
  /** A number that no earlier request on this port had. */
  id: number;
  kind: RecordKind;
  /** 64 hex characters. */
  address: string;
  /** The most bytes of a record. */
  limit: number;
}

export type WorkerMessage =
  | RecordRequest
  | { type: 'cancel'; id: number }
  /** The page answers with its status at once. A frozen page does not. */
  | { type: 'ping' }
  /** The worker does not use the port any more. */
  | { type: 'end' };

export type LeaderMessage =
  | { type: 'status'; status: NodesStatus }
  | { type: 'first-byte'; id: number }
  /** One chunk, or the pointer records of several nodes. The buffers are transferred. */
  | { type: 'answer'; id: number; records: ArrayBuffer[] }
  | { type: 'error'; id: number; code: ErrorCode; message: string }
  /** The page has lost the connections. */
  | { type: 'end' };

/** @returns undefined if the message breaks the protocol. */
export function parseWorkerMessage(message: unknown): WorkerMessage | undefined {
  const read = reader(message);
  const type = read('type');
  const id = read('id');
  if (type === 'ping' || type === 'end') return { type };
  if (!isCount(id)) return undefined;
  if (type === 'cancel') return { type, id };
  if (type !== 'request') return undefined;
  const kind = read('kind');
  const address = read('address');
  const limit = read('limit');
  if (kind !== 'chunk' && kind !== 'pointer') return undefined;
  if (typeof address !== 'string' || !Address.isHex(address)) return undefined;
  if (!isCount(limit) || limit > limits.chunkBytes) return undefined;
  return { type, id, kind, address, limit };
}

/** @returns undefined if the message breaks the protocol. */
export function parseLeaderMessage(message: unknown): LeaderMessage | undefined {
  const read = reader(message);
  const type = read('type');
  if (type === 'end') return { type };
  if (type === 'status') {
    const of = reader(read('status'));
    const [connected, known, lookups] = [of('connected'), of('known'), of('lookups')];
    if (!isCount(connected) || !isCount(known) || !isCount(lookups)) return undefined;
    return { type, status: { connected, known, lookups } };
  }
  const id = read('id');
  if (!isCount(id)) return undefined;
  if (type === 'first-byte') return { type, id };
  if (type === 'answer') {
    const records = read('records');
    if (!Array.isArray(records) || records.length > portLimits.records) return undefined;
    // A copy has no holes, which 'every' would skip.
    const copy: unknown[] = [...records];
    return copy.every((record) => record instanceof ArrayBuffer) ? { type, id, records: copy } : undefined;
  }
  if (type !== 'error') return undefined;
  const code = read('code');
  const text = read('message');
  if (typeof code !== 'string' || !Object.hasOwn(errorStatus, code) || typeof text !== 'string') {
    return undefined;
  }
  return { type, id, code: code as ErrorCode, message: text };
}

/** Reads own properties only: a prototype could supply others. */
function reader(value: unknown): (key: string) => unknown {
  const isObject = typeof value === 'object' && value !== null;
  return (key) =>
    isObject && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
