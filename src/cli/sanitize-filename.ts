import { replaceDisruptive } from '../util/sanitize-text.ts';

const mostCharacters = 100;

/** Devices in every folder, also with a suffix: `NUL`, `com1.txt`. */
const device = /^(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)\s*(\.|$)/i;

/** Whether a file of Windows cannot have this name: it names a device, or another file, drive or folder. */
export function isReservedByWindows(name: string): boolean {
  return device.test(name) || /[<>:"|?*\\]|[. ]$/.test(name);
}

/**
 * Returns the last segment of a path as the name of a new file in the current folder, on any system. Names come from
 * strangers: the result has no separator, no control character and no dot at its start, and no option can begin like it.
 * @returns undefined if nothing is left.
 */
export function sanitizeFilename(path: string): string | undefined {
  const last = path.split(/[/\\]/).findLast((segment) => segment !== '') ?? '';
  const plain = replaceDisruptive(last, '')
    .replace(/[<>:"|?*]/g, '')
    .replace(/^[.\-\s]+/, '');
  const name = Array.from(plain)
    .slice(0, mostCharacters)
    .join('')
    .replace(/[.\s]+$/, '');
  return (device.test(name) ? `_${name}` : name) || undefined;
}
