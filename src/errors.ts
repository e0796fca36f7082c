/** Stable error codes, part of the public interface: pages, scripts and tests match on them. */
export const errorStatus = {
  BAD_ADDRESS: 400,
  BAD_CONFIG: 500,
  BAD_RANGE: 416,
  METHOD: 405,
  NOT_FOUND: 404,
  DENIED: 451,
  CORRUPT: 502,
  UNSUPPORTED: 501,
  PEERS_UNREACHABLE: 504,
  OFFLINE: 503,
  TOO_LARGE: 507,
  REFUSED: 403,
  BUILD_MISMATCH: 502,
  HOST_UNREACHABLE: 503,
  INTERNAL: 500,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One attempt to ask one peer. An error lists them. */
export interface Attempt {
  /** The peer's URL as configured, without its certificate hashes. `nodes` for the network's nodes. */
  peer: string;
  transport: 'webtransport' | 'http' | 'webrtc';
  stage: 'connect' | 'request' | 'receive' | 'verify';
  code: ErrorCode;
  message: string;
  milliseconds: number;
  /** True if the peer is reachable but answered that it cannot serve this request now. */
  answered?: true;
  /** True if the peer answered “busy” until the time for that was over. */
  busy?: true;
}

export interface ErrorDetails {
  /** 64 hex characters. */
  address?: string;
  attempts?: readonly Attempt[];
  /** The URLs of the peers that did not take the record. */
  refusedBy?: readonly string[];
  [key: string]: unknown;
}

/** The error class of the gateway and the layers below it. `code` is stable. `message` is a plain sentence for users. */
export class AntwayError extends Error {
  override readonly name = 'AntwayError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** The HTTP status of the gateway's answer for this error. */
  get status(): number {
    return errorStatus[this.code];
  }

  /** The JSON body of an error answer. */
  toJSON(): { code: ErrorCode; message: string; address?: string; details: ErrorDetails } {
    const { address, ...details } = this.details;
    return { code: this.code, message: this.message, ...(address ? { address } : {}), details };
  }
}

export function isAbsentSomewhere({ details }: AntwayError): boolean {
  return details.attempts?.some(({ code }) => code === 'NOT_FOUND') ?? false;
}

/** Whether the caller aborted. Such an error is never reported as a failure of a peer or a store. */
export function isAbort(error: unknown, signal?: AbortSignal): boolean {
  return signal?.aborted === true || (error instanceof DOMException && error.name === 'AbortError');
}

/** Other values get the code `INTERNAL`. */
export function asAntwayError(error: unknown): AntwayError {
  if (error instanceof AntwayError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new AntwayError('INTERNAL', `Something in the gateway failed: ${message}`, {}, { cause: error });
}
