/** The files of one build of the gateway, by their paths on the host. Values are SHA-256 hashes in base64. */
export interface Build {
  /** Identifies the build: 64 hex digits. `build/embed-build.ts` defines it. */
  hash: string;
  /** What the worker stores when it is installed. */
  installed: Readonly<Record<string, string>>;
  /** What the worker gets from the host when it is needed. */
  optional: Readonly<Record<string, string>>;
}

/**
 * The build that this script belongs to. The last step of the build writes it into `sw.js` in place of this expression.
 * Other bundles and the development server have none.
 */
export const build = (globalThis as { __ANTWAY_BUILD__?: Build }).__ANTWAY_BUILD__;

/** The hash of this build, 64 hex digits; null where the script is not part of a hosted gateway. */
export const buildHash = build?.hash ?? null;
