/** Installs the wheels of a file with hashes. @returns the folder, or undefined if pip cannot install them. */
export function installWheels(name: string, requirements: string): string | undefined;
