import { describe, expect, it } from 'vitest';
import { ForwardAccess } from '../../src/archive/forward-access.ts';
import { DamagedTar, tarMembers } from '../../src/archive/tar-members.ts';
import { pax, tar, tarMember } from './support/tar.ts';

/** A stream of the bytes in pieces of `length`. */
function streamed(bytes: Uint8Array, length: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += length) controller.enqueue(bytes.subarray(at, at + length));
      controller.close();
    },
  });
}

/** Reads every second member of the tar. */
async function contents(stream: ReadableStream<Uint8Array>): Promise<Record<string, string>> {
  const access = new ForwardAccess(stream);
  const found: Record<string, string> = {};
  let isWanted = true;
  for await (const { path, offset, size } of tarMembers(access)) {
    if (isWanted) found[path] = new TextDecoder().decode(await access.read(offset, offset + size));
    isWanted = !isWanted;
  }
  return found;
}

const long = `${'folder/'.repeat(20)}c.txt`;
const members = [
  tarMember({ name: 'a.txt' }, 'one'),
  tarMember({ name: 'skipped.txt' }, 'x'.repeat(1500)),
  pax('x', { path: long }),
  tarMember({ name: 'c.txt' }, 'y'.repeat(512)),
];

describe('the tar in a stream', () => {
  it.each([1, 100, 512, 1000, 100_000])(
    'gives its members when it arrives in pieces of %i bytes',
    async (length) => {
      const found = await contents(streamed(tar(...members), length));
      expect(found).toEqual({ 'a.txt': 'one', [long]: 'y'.repeat(512) });
    },
  );

  it.each([
    ['before its first header', 0],
    ['in a header', 300],
    ['in the data of a member', 514],
    ['in a member that is not read', 1600],
    ['before the blocks that end it', Buffer.concat(members).length],
  ])('is damaged when the stream ends %s', async (_, length) => {
    await expect(contents(streamed(tar(...members).subarray(0, length), 400))).rejects.toBeInstanceOf(
      DamagedTar,
    );
  });

  it('is damaged when the stream fails', async () => {
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('gone')),
    });
    await expect(contents(failing)).rejects.toMatchObject({ code: 'CORRUPT', cause: new Error('gone') });
  });
});
