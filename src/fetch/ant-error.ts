import { type Attempt, asAntwayError, type ErrorCode, errorStatus, isAbort } from '../errors.ts';

export type AntErrorCode = ErrorCode;

/** One attempt to ask one peer. */
export type AntAttempt = Attempt;

/** The only error class of this package. `code` is stable. `message` is a plain sentence for users. */
export class AntError extends Error {
  override readonly name = 'AntError';

  constructor(
    readonly code: AntErrorCode,
    message: string,
    /** The requests to peers that failed. Empty if no peer was asked. */
    readonly attempts: readonly AntAttempt[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** The HTTP status of a gateway's answer for this error. */
  get status(): number {
    return errorStatus[this.code];
  }
}

/** Returns what a caller gets: the reason of an abort, or an `AntError`. */
export function publicError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof AntError || isAbort(error)) return error;
  const { code, message, details } = asAntwayError(error);
  const attempts = Object.freeze([...(details.attempts ?? [])]);
  return new AntError(code, message, attempts, { cause: error });
}
