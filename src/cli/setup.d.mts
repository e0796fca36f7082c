// The types of setup.mjs for the tests. setup.mjs is JavaScript because it runs before TypeScript is installed.

export const root: string;

/** Full paths of the peer's binaries, the command's script, and the folders of the shell and the drop-in. */
export const built: { peer: string; networkPeer: string; cli: string; shell: string; dropIn: string };

/** Builds the command into `dist-cli/`, unless the build is up to date. */
export function buildCli(): Promise<void>;

/** Builds the files for embedding sites into `dist-drop-in/`, unless the build is up to date. */
export function buildDropIn(): Promise<void>;

/** Builds `antway-peer`, unless the build is up to date. */
export function buildPeer(): Promise<void>;

/** Builds `antway-peer` with the client of the Autonomi network, unless the build is up to date. @throws SetupError */
export function buildNetworkPeer(): Promise<void>;

/** Builds the PWA into `dist/`, unless the build is up to date. */
export function buildShell(): Promise<void>;

/**
 * Runs a command in the project's folder, with its output on the terminal. @throws SetupError when the command fails.
 */
export function run(
  command: string,
  args: readonly string[],
  options?: { env?: NodeJS.ProcessEnv },
): Promise<void>;

/** A problem that the user has to solve. The message says how. */
export class SetupError extends Error {}

/** Ends the process. Prints only the message of a `SetupError`, and the stack of any other error. */
export function fail(error: unknown): never;
