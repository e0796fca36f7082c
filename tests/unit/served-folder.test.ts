import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Output } from '../../src/cli/output.ts';
import { ServedFolder } from '../../src/cli/served-folder.ts';

const { signal } = new AbortController();
let site: string;

beforeEach(() => {
  site = mkdtempSync(join(tmpdir(), 'antway-served-'));
  writeFileSync(join(site, 'index.html'), '<h1>first</h1>');
});
afterEach(() => rmSync(site, { recursive: true, force: true }));

it('a folder that does not fit into memory is too large, and its version before stays', async () => {
  const output = new Output({ quiet: true });
  const folder = new ServedFolder(site, [], output);
  expect(await folder.publish(signal)).toBe(true);
  const { current } = folder;
  const note = vi.spyOn(output, 'note');
  vi.spyOn(folder.store, 'write').mockResolvedValue('full');
  writeFileSync(join(site, 'index.html'), '<h1>second</h1>');
  await expect(folder.publish(signal)).rejects.toMatchObject({ name: 'AntwayError', code: 'TOO_LARGE' });
  expect(await folder.update(signal)).toBe(false);
  expect(note).toHaveBeenCalledWith(
    'TOO_LARGE: The folder is too large to be served from memory. The version before stays in place.',
  );
  expect(folder.current).toBe(current);
});

it('a folder that did not fit into memory leaves room for a smaller one', async () => {
  const folder = new ServedFolder(site, [], new Output({ quiet: true }));
  await folder.publish(signal);
  const { totals } = folder.store;
  const write = folder.store.write.bind(folder.store);
  const writing = vi.spyOn(folder.store, 'write');
  writing.mockImplementationOnce(write).mockResolvedValue('full');
  writeFileSync(join(site, 'index.html'), '<h1>second</h1>');
  await expect(folder.publish(signal)).rejects.toMatchObject({ code: 'TOO_LARGE' });
  expect(writing.mock.calls.length).toBeGreaterThan(1);
  expect(folder.store.totals).toEqual(totals);
});
