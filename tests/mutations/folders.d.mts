export const folders: Readonly<Record<string, readonly string[]>>;
export const slowTests: readonly string[];
