declare const __ANTWAY_VERSION__: string | undefined;

/** The version of this build: `ANTWAY_VERSION` if it was set during the build, otherwise the package's version. */
export const version = typeof __ANTWAY_VERSION__ === 'string' ? __ANTWAY_VERSION__ : 'unbuilt';
