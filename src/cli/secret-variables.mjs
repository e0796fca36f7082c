// The variables with secrets. Plain JavaScript, see setup.mjs.

const secretVariables = [
  'ANTWAY_PRIVATE_KEY',
  'ANTWAY_KEY_PASSPHRASE',
  'ANTWAY_KEYSTORE_PASSPHRASE',
  'ANTWAY_TOKEN',
  // Endpoints often have the user's key in the URL.
  'ANTWAY_RPC',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
];

/**
 * Removes the secrets from the environment of this process, so that no program that it starts inherits them: peers,
 * compilers, the scripts of packages. Call it before anything else.
 * @returns {NodeJS.ProcessEnv} the environment with the secrets.
 */
export function takeEnvironment() {
  const taken = { ...process.env };
  for (const name of secretVariables) delete process.env[name];
  return taken;
}
