// Plain JavaScript, see setup.mjs.

/** A problem that the user has to solve. The message says how. */
export class SetupError extends Error {
  name = 'SetupError';
}
