import { AntwayError, type ErrorCode } from '../errors.ts';

/** Why a stored key stays encrypted. */
export type UnlockFault =
  | 'refused'
  | 'timeout'
  | 'unsupported'
  | 'silent'
  | 'passphrase'
  | 'passkey'
  | 'lost'
  | 'damaged';

const faults: Record<UnlockFault, [code: ErrorCode, message: string]> = {
  refused: [
    'REFUSED',
    'The passkey was not confirmed. You or the browser refused it, or it is not on this device.',
  ],
  timeout: ['REFUSED', 'The passkey was not confirmed in time.'],
  unsupported: [
    'UNSUPPORTED',
    'This browser or authenticator has passkeys that cannot encrypt (no PRF). Use a passphrase.',
  ],
  silent: [
    'UNSUPPORTED',
    'The passkey was confirmed without its secret (no PRF). Keep the passkey, and use it as before or a passphrase.',
  ],
  passphrase: ['REFUSED', 'The passphrase is wrong, or the key was stored by another browser.'],
  passkey: ['REFUSED', 'This is another passkey, or the stored key was changed.'],
  lost: [
    'REFUSED',
    'The browser’s part of the key was deleted. Bring the address back with the 24 words or a key file.',
  ],
  damaged: ['CORRUPT', 'The stored key is damaged. Bring the address back with the 24 words or a key file.'],
};

/** An error whose `details.fault` names the reason. */
export function unlockProblem(fault: UnlockFault, cause?: unknown): AntwayError {
  const [code, message] = faults[fault];
  return new AntwayError(code, message, { fault }, { cause });
}

export function unlockFaultOf(error: unknown): UnlockFault | undefined {
  const fault = error instanceof AntwayError ? error.details.fault : undefined;
  return typeof fault === 'string' && Object.hasOwn(faults, fault) ? (fault as UnlockFault) : undefined;
}
