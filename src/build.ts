/** The files of one build, by their paths on the host. Values are SHA-256 hashes in base64. */
export interface Build {
  /** 64 hex digits, from `build/embed-build.ts`. */
  hash: string;
  /** Files of the shell's first screen, and of the pages of a site's origin. Every new worker stores them first. */
  first: Readonly<Record<string, string>>;
  /** The other files that the shell needs offline. An update stores them at its installation, a first worker later. */
  installed: Readonly<Record<string, string>>;
  /** Files that the worker requests from the host when it needs them. */
  optional: Readonly<Record<string, string>>;
}

/** The last step of the build replaces this expression in `sw.js`. Undefined in other bundles and in development. */
export const build = (globalThis as { __ANTWAY_BUILD__?: Build }).__ANTWAY_BUILD__;

/** 64 hex digits; null if the script is not part of a hosted gateway. */
export const buildHash = build?.hash ?? null;
