// The types of setup.mjs, which is JavaScript because it runs before TypeScript is installed. Only what tests use.

/** The project's folder. */
export const root: string;

/** Full paths of the peer's binary, the command's script, and the folders of the shell and the drop-in. */
export const built: { peer: string; cli: string; shell: string; dropIn: string };

/** Builds the command into `dist-cli/`, unless nothing has changed since it was built. */
export function buildCli(): Promise<void>;

/** Builds what other sites embed into `dist-drop-in/`, unless nothing has changed since it was built. */
export function buildDropIn(): Promise<void>;
