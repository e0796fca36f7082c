// The types of network-option.mjs for the tests.

/** The value for the peer's `--network`, or undefined. @throws SetupError */
export function networkOption(args: readonly string[], env?: NodeJS.ProcessEnv): string | undefined;
