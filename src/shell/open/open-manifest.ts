import { limits } from '../../limits.ts';
import { openContent } from '../content-link.tsx';
import { formatBytes } from '../format.ts';
import { GatewayApiError, gateway } from '../gateway-api.ts';
import { texts } from '../texts/texts.ts';

/**
 * @param path the path in the manifest, with a leading slash. Default: the manifest itself.
 * @throws GatewayApiError `TOO_LARGE` before anything is read, `UNREADABLE` for a folder or a missing file, or the
 *   error of the gateway.
 */
export async function openManifest(manifest: Blob, path = '/', isReplacing = false): Promise<void> {
  if (manifest.size > limits.manifestBytes) {
    throw new GatewayApiError(
      'TOO_LARGE',
      texts.open.manifestTooLarge(formatBytes(manifest.size), formatBytes(limits.manifestBytes)),
      { isTranslated: true },
    );
  }
  const { id } = await gateway.addManifest(await read(manifest));
  openContent(`/${id}${path}`, isReplacing);
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
