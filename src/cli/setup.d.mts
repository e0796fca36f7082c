// The types of setup.mjs, which is JavaScript because it runs before TypeScript is installed. Only what tests use.

/** The project's folder. */
export const root: string;

/** Full paths of the peer's binary, the command's script, and the folders of the shell and the drop-in. */
export const built: { peer: string; cli: string; shell: string; dropIn: string };

/** Builds the command into `dist-cli/`, unless nothing has changed since it was built. */
export function buildCli(): Promise<void>;

/** Builds what other sites embed into `dist-drop-in/`, unless nothing has changed since it was built. */
export function buildDropIn(): Promise<void>;

/** The same for `antway-peer`. */
export function buildPeer(): Promise<void>;

/** The same for the PWA in `dist/`. */
export function buildShell(): Promise<void>;

/** Runs a command in the project's folder, its output shown as it comes. @throws SetupError when it fails. */
export function run(
  command: string,
  args: readonly string[],
  options?: { env?: NodeJS.ProcessEnv },
): Promise<void>;

/** Something that the user at the keyboard has to put right. Its message says how. */
export class SetupError extends Error {}

/** Ends the process with a plain message for a `SetupError`, and with the stack for what nobody expected. */
export function fail(error: unknown): never;
