// @module-tag full
import { expect, test } from 'vitest';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { limits } from '../../src/limits.ts';
import { errorCode } from '../support/gateway-client.ts';
import { publish } from '../support/publish.ts';
import { linesOf, makeTarchive } from '../support/tarchive.ts';
import type { Records } from './support/encrypted-file.ts';
import { answerOf, requestOf, startGateway } from './support/gateway.ts';

const origin = 'http://127.0.0.1:8080';
const content = 'one content for all';

/** Publishes an archive of so many entries. */
async function publishArchive(count: number, records: Records): Promise<string> {
  const archive = await makeTarchive({ 'real.txt': content }, ([real]) => {
    let index = linesOf([real!]);
    for (let i = 1; i < count; i++) index += `folder-${i % 10}/file-${i}.txt ${real!.offset} ${real!.size}\n`;
    return index;
  });
  return publish(archive, {
    put: async (address, bytes) => void records.set(address, new Uint8Array(bytes)),
  });
}

test('an archive of 100,000 entries opens, also as a page; one more entry is too large', async () => {
  const records: Records = new Map();
  const address = await publishArchive(limits.archiveEntries, records);
  const larger = await publishArchive(limits.archiveEntries + 1, records);
  const gateway = startGateway(deploymentAt(origin), { records });
  try {
    const get = (path: string, headers: Record<string, string> = {}) =>
      answerOf(gateway, requestOf(origin + path, { headers }, 'fetch'));
    expect((await get(`/${address}/folder-9/file-99999.txt`)).text).toBe(content);
    expect(JSON.parse((await get(`/${address}/folder-3/?format=json`)).text)).toHaveLength(10_000);
    const page = await get(`/${address}/folder-3/`, { Accept: 'text/html' });
    expect(page.text).toContain('0 folders, 10,000 files.');
    const tooMany = await get(`/${larger}/`);
    expect([tooMany.status, errorCode(tooMany)]).toEqual([507, 'TOO_LARGE']);
  } finally {
    gateway.close();
  }
});
