import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { storeOf } from '../../src/cli/whole-content.ts';
import { FolderPeerStore } from '../../src/node-peer/folder-store.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';

const blake3 = await loadBlake3();
let path: string;

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'antway-chunks-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

it('a chunk that a full disk does not take is an error with the address of the chunk', async () => {
  const folder = await FolderPeerStore.open(path, blake3);
  vi.spyOn(folder, 'write').mockResolvedValue('full');
  const bytes = new TextEncoder().encode('a chunk');
  const chunk = VerifiedChunk.verify(Address.fromBytes(blake3(bytes)), bytes, blake3);
  await expect(storeOf(folder, path).put(chunk)).rejects.toMatchObject({
    name: 'AntwayError',
    code: 'TOO_LARGE',
    message: `The disk has no room for “${path}”.`,
    details: { address: chunk.address.hex },
  });
});
