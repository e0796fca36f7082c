import { texts } from './texts/texts.ts';

/** Why the gateway's worker cannot answer. The page shows the code, so that the user can quote it. */
type BootErrorCode =
  | 'INSECURE_CONTEXT'
  | 'WORKERS_UNAVAILABLE'
  | 'STORAGE_BLOCKED'
  | 'REGISTRATION_REFUSED'
  | 'WORKER_NOT_FOUND'
  | 'WORKER_UNREACHABLE'
  | 'WORKER_BROKEN'
  | 'NOT_ANSWERED'
  | 'NOTHING_HERE';

interface BootProblemText {
  message: string;
  advice: string;
}

export class BootError extends Error {
  override readonly name = 'BootError';

  constructor(
    readonly code: BootErrorCode,
    { message, advice }: BootProblemText,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.advice = advice;
  }

  readonly advice: string;
}

export function asBootError(error: unknown): BootError {
  if (error instanceof BootError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new BootError('WORKER_BROKEN', texts.boot.other(message), { cause: error });
}
