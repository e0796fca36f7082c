// The types of setup.mjs, which is JavaScript because it runs before TypeScript is installed. Only what tests use.

/** The project's folder. */
export const root: string;

/** Full paths of the peer's binary, the command's script and the shell's folder. */
export const built: { peer: string; cli: string; shell: string };

/** Builds the command into `dist-cli/`, unless nothing has changed since it was built. */
export function buildCli(): Promise<void>;
