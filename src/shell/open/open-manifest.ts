import { limits } from '../../limits.ts';
import { openContent } from '../content-link.tsx';
import { formatBytes } from '../format.ts';
import { GatewayApiError, gateway } from '../gateway-api.ts';
import { bringExport, isExport } from '../library/brought-export.ts';
import { texts } from '../texts/texts.ts';

/** The first byte of every manifest. */
const firstByte = 0xc1;

/**
 * Opens a manifest, or a data map file as a manifest of one file. Hands an exported site to the library.
 * @param path the path in the manifest, with a leading slash. Default: the manifest itself.
 * @throws GatewayApiError `TOO_LARGE` before anything is read, `UNREADABLE` for a folder or a missing file, or the
 *   error of the gateway.
 */
export async function openManifest(manifest: Blob, path = '/', isReplacing = false): Promise<void> {
  if (await isExport(manifest)) {
    bringExport(manifest);
    return;
  }
  if (manifest.size > limits.manifestBytes) {
    throw new GatewayApiError(
      'TOO_LARGE',
      texts.open.manifestTooLarge(formatBytes(manifest.size), formatBytes(limits.manifestBytes)),
      { isTranslated: true },
    );
  }
  const bytes = await read(manifest);
  const converted = new Uint8Array(bytes)[0] === firstByte ? undefined : await convert(bytes, manifest);
  const { id } = await gateway.addManifest(converted?.manifest ?? bytes);
  openContent(`/${id}${converted?.path ?? path}`, isReplacing);
}

/** @returns undefined if the file is no data map. The gateway then says why it is no manifest either. */
async function convert(bytes: ArrayBuffer, file: Blob) {
  const { manifestOfDataMap, pathOfDataMap } = await import('./data-map-file.ts');
  const manifest = manifestOfDataMap(new Uint8Array(bytes));
  return (
    manifest && { manifest: manifest.buffer, path: pathOfDataMap(file instanceof File ? file.name : '') }
  );
}

async function read(manifest: Blob): Promise<ArrayBuffer> {
  try {
    return await manifest.arrayBuffer();
  } catch (error) {
    throw new GatewayApiError('UNREADABLE', texts.open.unreadable((error as Error).message), {
      isTranslated: true,
    });
  }
}
