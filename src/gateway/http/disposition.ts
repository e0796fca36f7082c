/**
 * RFC 6266. A name that is not plain ASCII also appears as `filename*` (RFC 8187), which every current browser prefers.
 */
export function contentDisposition(type: 'inline' | 'attachment', filename: string): string {
  const name = filename.replace(/^.*[/\\]/s, '').replace(controlCharacters, '');
  if (name === '') return type;
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/gu, '_')
    .replace(/["\\%/]/g, '_'); // some characters, such as “℀”, decompose into a slash
  const fallback = `${type}; filename="${ascii}"`;
  return ascii === name ? fallback : `${fallback}; filename*=UTF-8''${encodeExtended(name)}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a header
const controlCharacters = /[\0-\x1f\x7f]/g;

function encodeExtended(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
