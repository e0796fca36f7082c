import { GatewayApiError } from './gateway-api.ts';
import { texts } from './texts/texts.ts';

/**
 * Converts the failure of an `import()`: after a first visit the worker may not have stored all files, and the host does
 * not answer or no longer has them. @returns a problem with the code `PART_UNAVAILABLE`.
 */
export function partProblem(error: unknown): GatewayApiError {
  console.warn('antway: a part of the shell could not be loaded', error);
  return new GatewayApiError('PART_UNAVAILABLE', texts.boot.partUnavailable, { isTranslated: true });
}
