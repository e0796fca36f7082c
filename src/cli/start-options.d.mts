// The types of start-options.mjs for the tests.

/** The value for the peer's `--network`, and the wanted peer. @throws SetupError */
export function startOptions(
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): { network: string | undefined; peer: 'node' | 'rust' | undefined };
