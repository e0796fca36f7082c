import { encodeManifest } from '../content/manifest.ts';
import { decodeDataMap } from '../self-encryption/data-map.ts';
import type { Published } from './publish.ts';

/**
 * The manifest of a private publication. It has one entry without a path, and stands for that file, or for the archive in
 * that file.
 */
export function privateManifest({ record, size }: Published, name: string): Uint8Array<ArrayBuffer> {
  const map = decodeDataMap(record)!;
  return encodeManifest({
    ...(name ? { name } : {}),
    entries: [{ size, source: { kind: 'embedded', map } }],
  });
}
