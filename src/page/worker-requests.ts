import { DropInError } from '../drop-in/error.ts';
import { type ErrorCode, errorStatus } from '../errors.ts';
import { AntError } from '../fetch/ant-error.ts';

/** Requests to the endpoints of the worker. */
export interface WorkerRequests {
  /** Ends everything that runs. */
  readonly closed: AbortSignal;
  /** @throws the error of `ready`; AntError with the worker's code; DropInError `WORKERS_UNAVAILABLE`; the reason of an abort. */
  request(name: string, init?: RequestInit): Promise<Response>;
  /** The JSON of an answer, whose type the caller knows. @throws as `request`. */
  json<T>(name: string, init?: RequestInit): Promise<T>;
}

/** @param place as `connect` of the drop-in returns it. */
export function workerRequests(
  ready: Promise<void>,
  place: () => [base: string, names: object | undefined],
  closed: AbortSignal,
): WorkerRequests {
  async function request(name: string, init: RequestInit = {}): Promise<Response> {
    await ready;
    closed.throwIfAborted();
    const [base, names] = place();
    if (!names) throw new DropInError('WORKERS_UNAVAILABLE', 'This page has no worker.');
    const signal = AbortSignal.any(init.signal ? [init.signal, closed] : [closed]);
    const response = await fetch(`${base}-/${name}`, { ...init, signal });
    if (response.ok) return response;
    const { code, message } = Object(await response.json().catch(() => undefined));
    throw workerError(code, message ?? `The worker answered with HTTP status ${response.status}.`);
  }
  return {
    closed,
    request,
    json: async <T>(name: string, init?: RequestInit): Promise<T> => (await request(name, init)).json(),
  };
}

/** Another version of the worker may have codes that this one does not know. */
export function workerError(code: unknown, message: unknown): AntError {
  const isKnown = typeof code === 'string' && Object.hasOwn(errorStatus, code);
  return new AntError(isKnown ? (code as ErrorCode) : 'INTERNAL', String(message));
}
