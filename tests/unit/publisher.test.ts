// @module-tag slow
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { buildCli } from '../../src/cli/setup.mjs';
import { parsePointer } from '../../src/content/pointer.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { signMembers } from '../../src/owner/sign-members.ts';
import {
  AntError,
  type AntPublisherOptions,
  type AntPublishInit,
  type AntPublishInput,
  type AntSink,
  createPublisher,
} from '../../src/publisher/index.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { freePort } from '../support/loopback-server.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';

const text = new Blob(['abcdefghijklmnopqrstuvwxyz']);
const large = new Uint8Array(20_000_000).map((_, i) => (i * 7919) % 256);

class MapSink implements AntSink {
  readonly chunks = new Map<string, Uint8Array>();
  readonly pointers = new Map<string, Uint8Array>();
  async put(address: string, bytes: Uint8Array) {
    if (this.chunks.has(address)) return 'present';
    this.chunks.set(address, bytes);
    return 'stored';
  }
  async putPointer(address: string, record: Uint8Array) {
    this.pointers.set(address, record);
  }
}

const publish = (content: AntPublishInput, init?: AntPublishInit, sink: AntSink = new MapSink()) =>
  createPublisher({ sink }).publish(content, init);

async function* failing(error: Error) {
  yield { path: 'a', content: text };
  throw error;
}

describe('the options', () => {
  it('are checked, so that none is ignored', () => {
    const create = (options: unknown) => () => createPublisher(options as AntPublisherOptions);
    const sink = new MapSink();
    expect(create({ peers: ['http://127.0.0.1:1'], tokne: 'x' })).toThrow(/no option “tokne”/);
    expect(create({})).toThrow(/either “peers” or “sink”/);
    expect(create({ sink, peers: ['/'] })).toThrow(/either “peers” or “sink”/);
    expect(create({ sink: {} })).toThrow(TypeError);
    expect(create({ peers: [] })).toThrow(/at least one/);
    for (const peer of ['http://peer.example', 'x', '/']) {
      expect(create({ peers: [peer] })).toThrow(
        expect.objectContaining({ name: 'AntError', code: 'BAD_CONFIG' }),
      );
    }
  });

  it('of one call are checked, too', async () => {
    const pointer = { seed: new Uint8Array(32), counter: 1n };
    const init = (init: object) => publish(text, init as AntPublishInit);
    await expect(init({ nmae: 'x' })).rejects.toThrow(/no option “nmae”/);
    await expect(init({ pointer, isPrivate: true })).rejects.toThrow(TypeError);
    await expect(init({ pointer: { ...pointer, seed: new Uint8Array(31) } })).rejects.toThrow(/32 bytes/);
    await expect(init({ pointer: { ...pointer, counter: 1 } })).rejects.toThrow(/bigint/);
    await expect(init({ sign: { seed: new Uint8Array(33) } })).rejects.toThrow(/signature must be 32 bytes/);
    await expect(init({ sign: true })).rejects.toThrow(TypeError);
    await expect(init({ sign: { seed: new Uint8Array(32) } })).rejects.toThrow(
      /only the files of an archive/,
    );
    await expect(init({ pointer: { ...pointer, counter: 2n ** 64n } })).rejects.toThrow(/bigint/);
  });
});

describe('publish', () => {
  it.each([
    ['a string', 'text'],
    ['null', null],
    ['a number', 5],
    ['files without paths', [text]],
    ['a file whose content is text', [{ path: 'a', content: 'text' }]],
    ['a source of no size', { size: -1, read: async () => new Uint8Array() }],
  ])('refuses %s with a TypeError', async (_, content) => {
    await expect(publish(content as never)).rejects.toThrow(TypeError);
  });

  it.each([
    ['two bytes', new Uint8Array(2), 'UNSUPPORTED'],
    ['no files', [], 'UNSUPPORTED'],
    ['a path that leads out', [{ path: '../a', content: text }], 'UNSUPPORTED'],
    ['a source that ends early', { size: 100, read: async () => new Uint8Array(1) }, 'CORRUPT'],
  ])('refuses %s with a code', async (_, content, code) => {
    await expect(publish(content as never)).rejects.toMatchObject({ name: 'AntError', code });
  });

  it('stores the chunk of the address last, and returns its link', async () => {
    const sink = new MapSink();
    const published = await publish(new File([text], 'a b.txt'), {}, sink);
    expect([...sink.chunks.keys()].at(-1)).toBe(published.address);
    expect(published).toMatchObject({
      uri: `ant://${published.address}/a%20b.txt`,
      ...{ size: 26, chunks: 4, presentChunks: 0, manifest: undefined, pointer: undefined },
    });
    expect(await publish(text, { name: 'x' }, sink)).toMatchObject({ presentChunks: 4, uploadedBytes: 0 });
  });

  it('does not store the map of private content', async () => {
    const sink = new MapSink();
    const published = await publish(text, { isPrivate: true }, sink);
    expect(sink.chunks.has(published.address)).toBe(false);
    expect(published.uri).toMatch(/^ant:\/\/manifest\/[\w-]+$/);
    expect(published.manifest?.length).toBeGreaterThan(100);
  });

  it('signs the files of an archive, with the same address each time', async () => {
    const seed = new Uint8Array(32).fill(3);
    const entries = [{ path: 'index.html', content: text }];
    const { address } = await publish(entries, { sign: { seed } });
    expect((await publish(entries, { sign: { seed } })).address).toBe(address);
    const source = bufferAccess(new Uint8Array(await text.arrayBuffer()));
    const members = await signMembers([{ path: 'index.html', source }], new OwnerKey(seed));
    expect((await publish(createTarchive(members))).address).toBe(address);
    expect((await publish(entries)).address).not.toBe(address);
  });

  it('signs a pointer, which the sink stores', async () => {
    const sink = new MapSink();
    const seed = new Uint8Array(32).fill(9);
    const { address, pointer } = await publish(text, { pointer: { seed, counter: 3n } }, sink);
    const owner = new PointerOwner(9);
    expect(pointer?.address).toBe(owner.address.hex);
    expect(sink.pointers.get(owner.address.hex)).toEqual(pointer?.record);
    const parsed = parsePointer(pointer!.record, owner.address);
    expect([parsed.counter, parsed.target.hex, parsed.kind]).toEqual([3n, address, 'chunk']);
  });

  it('ends with the reason of an abort, also while the sink never answers', async () => {
    const put = () => new Promise<never>(() => undefined);
    const controller = new AbortController();
    const publishing = publish(large, { signal: controller.signal }, { put });
    setTimeout(() => controller.abort('why'), 50);
    await expect(publishing).rejects.toBe('why');
  });

  it('ends with an AbortError after close', async () => {
    const publisher = createPublisher({ sink: { put: () => new Promise<never>(() => undefined) } });
    const publishing = publisher.publish(text);
    publisher.close();
    await expect(publishing).rejects.toMatchObject({ name: 'AbortError' });
    await expect(publisher.publish(text)).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('ends with the caller’s own error in the progress function or the files', async () => {
    const own = new RangeError('no room for the bar');
    const onProgress = () => {
      throw own;
    };
    await expect(publish(large, { onProgress })).rejects.toBe(own);
    await expect(publish(failing(own))).rejects.toBe(own);
  });

  it('tells with a code that the peer is unreachable, after some tries', { tags: 'full' }, async () => {
    const publisher = createPublisher({ peers: [`http://127.0.0.1:${await freePort()}`] });
    const error = await publisher.publish(text).catch((error) => error);
    expect(error).toMatchObject({ name: 'AntError', code: 'PEERS_UNREACHABLE', status: 504 });
    expect(error.message).toMatch(/after 5 tries/);
  });

  it('tells with a code that the sink failed', async () => {
    const put = () => Promise.reject(new Error('the disk is gone'));
    const error = await publish(text, {}, { put }).catch((error) => error);
    expect(error).toBeInstanceOf(AntError);
    expect(error).toMatchObject({ code: 'INTERNAL', message: 'The sink failed: the disk is gone' });
  });
});

describe('a pointer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'antway-publisher-'));
  let peers: NodePeerProcess[];

  beforeAll(async () => {
    await buildCli();
    peers = await Promise.all(
      ['one', 'other'].map((name) => NodePeerProcess.start(join(folder, name), '--allow-open-writes')),
    );
  });

  afterAll(async () => {
    await Promise.all(peers.map((peer) => peer.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const seed = new Uint8Array(32).fill(9);
  const publishAt = (counter: bigint, content = text) =>
    createPublisher({ peers: peers.map(({ url }) => url) }).publish(content, { pointer: { seed, counter } });

  it('reaches every peer, and moves with a larger counter only', async () => {
    const { pointer } = await publishAt(5n);
    const moved = await publishAt(6n, new Blob(['other content, as long as it has to be']));
    expect(moved.pointer!.address).toBe(pointer!.address);
    for (const { url } of peers) {
      const answer = await fetch(`${url}/pointer/${pointer!.address}`);
      const record = new Uint8Array(await answer.arrayBuffer());
      const { counter, target } = parsePointer(record, Address.fromHex(pointer!.address));
      expect([counter, target.hex]).toEqual([6n, moved.address]);
    }
    await expect(publishAt(5n)).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('has a newer state of the pointer'),
    });
  });
});
