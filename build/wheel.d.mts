export function programOfWheel(name: string, requirements: string): string | undefined;
