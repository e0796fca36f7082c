import { limits } from '../limits.ts';
import { formatBytes } from './format.ts';
import { GatewayApiError, gateway } from './gateway-api.ts';

/**
 * Hands a manifest to the gateway, which keeps it on this device, and opens it.
 *
 * @throws GatewayApiError `TOO_LARGE` before anything is read, `UNREADABLE` for a folder or a file that is gone,
 *   or as the gateway refuses it.
 */
export async function openManifest(manifest: Blob): Promise<void> {
  if (manifest.size > limits.manifestBytes) {
    throw new GatewayApiError(
      'TOO_LARGE',
      `This has ${formatBytes(manifest.size)}, and a manifest at most ${formatBytes(limits.manifestBytes)}.`,
    );
  }
  const { id } = await gateway.addManifest(await read(manifest));
  location.assign(`/${id}/`);
}

async function read(manifest: Blob): Promise<ArrayBuffer> {
  try {
    return await manifest.arrayBuffer();
  } catch (error) {
    throw new GatewayApiError('UNREADABLE', `This cannot be read as a file: ${(error as Error).message}`);
  }
}
