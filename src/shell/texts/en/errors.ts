/** English: what is said of an error by its code. The worker's own messages are English, so it is nothing. */
export const errors: Readonly<Record<string, string | undefined>> = {};
