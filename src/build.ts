/** The files of one build of the gateway, by their paths on the host. Values are SHA-256 hashes in base64. */
export interface Build {
  /** Identifies the build: 64 hex digits. `build/embed-build.ts` defines it. */
  hash: string;
  /** Files that the worker stores when it is installed. */
  installed: Readonly<Record<string, string>>;
  /** Files that the worker requests from the host when it needs them. */
  optional: Readonly<Record<string, string>>;
}

/**
 * The build that this script belongs to. The last step of the build writes it into `sw.js` in place of this expression.
 * Undefined in other bundles and on the development server.
 */
export const build = (globalThis as { __ANTWAY_BUILD__?: Build }).__ANTWAY_BUILD__;

/** The hash of this build, 64 hex digits; null if the script is not part of a hosted gateway. */
export const buildHash = build?.hash ?? null;
