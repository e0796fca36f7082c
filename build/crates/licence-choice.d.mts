export function chooseLicences(expression: unknown): string[] | undefined;
