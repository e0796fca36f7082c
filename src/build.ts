/** The files of one build, by their paths on the host. */
export interface Build {
  /** 64 hex digits, from `build/embed-build.ts`. */
  hash: string;
  /**
   * Files of the shell's first screen, and of the pages of a site's origin, with SHA-256 hashes in base64. A first worker of
   * the gateway's origin stores them at its installation. `filesList` is one of them, and is stored later.
   */
  first: Record<string, string>;
  /** The other files that the shell needs offline. An update stores them at its installation, a first worker later. */
  installed: string[];
  /** Files that the worker requests from the host when it needs them. */
  optional: string[];
}

/**
 * The hashes of the installed and the optional files: JSON, an object of paths and SHA-256 hashes in base64. In the worker's
 * script they would make every first visit slower, and a first visit needs none of them.
 */
export const filesList = '/-/files.json';

/** The last step of the build replaces this expression in `sw.js`. Undefined in other bundles and in development. */
export const build = (globalThis as { __ANTWAY_BUILD__?: Build }).__ANTWAY_BUILD__;

/** 64 hex digits; null if the script is not part of a hosted gateway. */
export const buildHash = build?.hash ?? null;
