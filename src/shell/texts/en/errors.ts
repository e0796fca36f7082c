/** English: texts for error codes. Empty, because the worker's own messages are English. */
export const errors: Readonly<Record<string, string | undefined>> = {};
