declare const __ANTWAY_VERSION__: string | undefined;

/** The version of this build: the package's, or what `ANTWAY_VERSION` was when it was built. */
export const version = typeof __ANTWAY_VERSION__ === 'string' ? __ANTWAY_VERSION__ : 'unbuilt';
