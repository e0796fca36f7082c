import { AntwayError, type ErrorCode } from '../../errors.ts';

/** Why a file is not read as a backup. */
export type BackupFault = 'foreign' | 'newer' | 'limits' | 'passphrase' | 'truncated' | 'modified';

const faults: Record<BackupFault, [code: ErrorCode, message: string]> = {
  foreign: ['UNSUPPORTED', 'This file is not a backup of Antway.'],
  newer: ['UNSUPPORTED', 'A newer version of Antway made this backup. Update Antway, then try again.'],
  limits: ['TOO_LARGE', 'This backup demands more work or space than any that Antway makes.'],
  passphrase: ['REFUSED', 'The passphrase is wrong, or the beginning of the file was changed.'],
  truncated: ['CORRUPT', 'The end of this backup is missing. Use a complete copy.'],
  modified: [
    'CORRUPT',
    'This backup is damaged: its content was changed, or its end is missing. Use a good copy.',
  ],
};

/** An error whose `details.fault` names the reason. */
export function backupProblem(fault: BackupFault, cause?: unknown): AntwayError {
  const [code, message] = faults[fault];
  return new AntwayError(code, message, { fault }, { cause });
}

export function faultOf(error: unknown): BackupFault | undefined {
  const fault = error instanceof AntwayError ? error.details.fault : undefined;
  return typeof fault === 'string' && Object.hasOwn(faults, fault) ? (fault as BackupFault) : undefined;
}
