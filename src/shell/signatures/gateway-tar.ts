import { keyName } from '../../archive/member-path.ts';
import type { RandomAccess } from '../../util/random-access.ts';
import { GatewayApiError, request } from '../gateway-api.ts';

/** The bytes of an archive, which the gateway's worker compares with its address. */
export interface GatewayTar extends RandomAccess {
  /** The address of the content, 64 hex digits: for a pointer, its target. */
  content: string;
}

/**
 * Finds an archive. Security: all bytes are of the content that the first answer had. A pointer can lead elsewhere at any
 * time, and two reads could get two archives.
 * @param address of the content or a pointer, 64 hex digits.
 * @returns undefined if the content is no archive, or has no key of a signer. The gateway would first have to find the sizes
 *   of all files of some other archives.
 * @throws GatewayApiError with the gateway's code, `NO_WORKER` without a worker that verifies.
 */
export async function tarAt(address: string, signal: AbortSignal): Promise<GatewayTar | undefined> {
  const start = { headers: { Range: 'bytes=0-0' }, signal };
  const key = await request(`/${address}/${keyName}`, start);
  await key.body?.cancel();
  if (key.status === 404) return undefined;
  const first = await request(`/${address}/?format=tar`, start);
  if (!first.ok) {
    const { code = 'INTERNAL', message = String(first.status) } = await first.json().catch(() => ({}));
    if (code === 'UNSUPPORTED') return undefined;
    throw new GatewayApiError(code, message);
  }
  await first.body?.cancel();
  const [, total] = /^bytes 0-0\/(\d+)$/.exec(first.headers.get('Content-Range') ?? '') ?? [];
  const [, content] = /^"([0-9a-f]{64})\.tar\b/.exec(first.headers.get('ETag') ?? '') ?? [];
  if (first.status !== 206 || total === undefined || content === undefined) throw noRange(address);
  const path = `/${content}/?format=tar`;
  return {
    content,
    size: Number(total),
    async read(start, end, reading = signal) {
      if (start === end) return new Uint8Array();
      const headers = { Range: `bytes=${start}-${end - 1}` };
      const response = await request(path, { headers, signal: reading });
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (response.status !== 206 || bytes.length !== end - start) throw noRange(content);
      return bytes;
    },
  };
}

function noRange(address: string): GatewayApiError {
  return new GatewayApiError('INTERNAL', `The gateway did not give the asked bytes of ${address}.`);
}
