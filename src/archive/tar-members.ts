import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { mostPathBytes, type PaxRecords, parsePax } from './pax.ts';
import { blockBytes, paddedToBlock, parseTarHeader, readText } from './tar-header.ts';

export interface TarMember {
  /** Cut if it is too long to be served. */
  path: string;
  offset: number;
  size: number;
  /** Seconds since 1970; 0 if unknown. */
  modified: number;
}

export class DamagedTar extends AntwayError {
  constructor(why: string, cause?: unknown) {
    super('CORRUPT', why, {}, { cause });
  }
}

/**
 * Yields a tar's files by its headers, in ascending positions. Links, devices and folders are left out.
 * @throws DamagedTar after the members before the damage, also for a tar with more headers than `maxHeaders`.
 */
export async function* tarMembers(
  tar: RandomAccess,
  { signal, maxHeaders = limits.tarHeaders }: { signal?: AbortSignal | undefined; maxHeaders?: number } = {},
): AsyncGenerator<TarMember, void> {
  let global: PaxRecords = {};
  let local: PaxRecords = {};
  let longName: string | undefined;
  for (let at = 0, headers = 1; at + blockBytes <= tar.size; headers++) {
    if (headers > maxHeaders) throw new DamagedTar(`it has more than ${maxHeaders} headers`);
    const block = await tar.read(at, at + blockBytes, signal);
    if (block.every((byte) => byte === 0)) return;
    const header = parseTarHeader(block);
    if (!header) throw new DamagedTar(`there is no valid tar header at byte ${at}`);
    const offset = at + blockBytes;
    const size = header.type === '0' ? (paxSize(local) ?? paxSize(global) ?? header.size) : header.size;
    if (offset + size > tar.size) throw new DamagedTar(`“${header.name}” reaches past the end of the file`);
    at = offset + paddedToBlock(size);

    if ('xgL'.includes(header.type)) {
      if (size > limits.tarMetadataBytes) throw new DamagedTar(`a header at byte ${offset} is too long`);
      const data = await tar.read(offset, offset + size, signal);
      if (header.type === 'x') local = parsePax(data);
      else if (header.type === 'g') global = { ...global, ...parsePax(data) };
      else longName = readText(data, 0, Math.min(data.length, mostPathBytes));
      continue;
    }
    if (header.type === '0') {
      const path = local.path ?? longName ?? global.path ?? header.name;
      yield { path, offset, size, modified: Math.floor(Number(local.mtime ?? header.modified)) || 0 };
    }
    local = {};
    longName = undefined;
  }
}

function paxSize({ size }: PaxRecords): number | undefined {
  return size !== undefined && /^\d{1,15}$/.test(size) ? Number(size) : undefined;
}
