// The types of setup.mjs for the tests. setup.mjs is JavaScript because it runs before TypeScript is installed.

import type { StdioOptions } from 'node:child_process';

export { SetupError } from './setup-error.mjs';

export const root: string;

/** Full path of the folder with the state of this copy of the project. */
export const stateFolder: string;

/** Full paths of the peer's binaries, the command's script, and the folders of the shell and the drop-in. */
export const built: {
  peer: string;
  networkPeer: string;
  cli: string;
  shell: string;
  dropIn: string;
  packages: string;
};

/** Builds the command into `dist-cli/`, unless the build is up to date. */
export function buildCli(): Promise<void>;

/** Builds the files for embedding sites into `dist-drop-in/`, unless the build is up to date. */
export function buildDropIn(): Promise<void>;

/** Builds the folders of the packages `@antway/…` into `dist-packages/`, unless the build is up to date. */
export function buildNpmPackages(): Promise<void>;

/** Installs the tools and runtimes of the tests of the packages, unless they are installed. */
export function installPackageTestTools(): Promise<void>;

/** Installs the block chain for tests of payments, unless it is installed. */
export function installTestChain(): Promise<void>;

/** Builds `antway-peer`, and with `withTestPrograms` the peer that lies, unless the build is up to date. */
export function buildPeer(options?: { withTestPrograms?: boolean }): Promise<void>;

/** Whether the build of `antway-peer` is up to date. */
export function isPeerBuilt(): Promise<boolean>;

/** Builds `antway-peer` with the client of the Autonomi network, unless the build is up to date. @throws SetupError */
export function buildNetworkPeer(): Promise<void>;

/** Builds the PWA into `dist/`, unless the build is up to date. */
export function buildShell(): Promise<void>;

/** Whether the peer in Rust runs on this system. */
export function supportsRustPeer(): boolean;

/** @throws SetupError when the peer in Rust does not run on this system, or cargo is missing. */
export function checkCargo(): void;

/**
 * Runs a command in a folder, by default the project's, with its output on the terminal. A background command has low priority. It
 * ends with all programs that it started when the signal aborts and when this process exits.
 * @throws SetupError when the command fails or the signal aborts.
 */
export function run(
  command: string,
  args: readonly string[],
  options?: {
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    stdio?: StdioOptions;
    signal?: AbortSignal;
    isBackground?: boolean;
  },
): Promise<void>;

/** Runs pnpm at the version of this project, in the project's folder. @throws SetupError when it fails. */
export function runPnpm(args: readonly string[]): Promise<void>;

/** Ends the process. Prints only the message of a `SetupError`, and the stack of any other error. */
export function fail(error: unknown): never;
