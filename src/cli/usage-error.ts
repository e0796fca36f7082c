/** The command line is invalid. The process ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
