// `npm run perf:publish-memory`: the memory of the browser while its app publishes 300 MB.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../tests/browser/memory.ts';
import { openShellIn } from '../tests/support/chromium.ts';
import { ProcessGroup } from '../tests/support/processes.ts';
import { noise } from '../tests/support/publish.ts';
import { launchBrowser } from './browser.ts';
import { describeMachine, machineLine } from './machine.ts';

const files = 10;
const fileBytes = 30_000_000;
const sampleMs = 250;
const mostMinutes = 10;
/**
 * Compressors, chunks on their way, and memory that waits to be collected. An app that holds the whole site would need
 * 300 MB more.
 */
const mostBytes = 280e6 + Math.min(cpus().length, 4) * 75e6;

const folder = await mkdtemp(join(tmpdir(), 'antway-publish-memory-'));
await using processes = new ProcessGroup();
const browser = await launchBrowser();
try {
  const site = join(folder, 'large');
  await mkdir(site);
  for (let i = 0; i < files; i++) await writeFile(join(site, `${i}.bin`), repeated(i, fileBytes));
  const host = await processes.startHost({ peers: ['/'] });
  const page = await openShellIn(await browser.newContext(), `${host.url}/#publish`);
  await page.locator('input[name=folder]').setInputFiles(site);
  await page.getByRole('region', { name: 'large' }).getByText('300 MB before compression').waitFor();
  const before = await residentBytes(page);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const done = page.getByRole('region', { name: 'Published', exact: true });
  let most = 0;
  const start = Date.now();
  while (!(await done.isVisible())) {
    if (Date.now() - start > mostMinutes * 60_000)
      throw new Error(`300 MB took more than ${mostMinutes} minutes.`);
    await sleep(sampleMs);
    most = Math.max(most, await residentBytes(page));
  }
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  console.log(`${machineLine(describeMachine(browser))} 300 MB in ${((Date.now() - start) / 1000).toFixed(0)} s. \
All processes of the browser had ${megabytes(before)} MB before, and at most ${megabytes(most - before)} MB more. \
The most that they should have is ${megabytes(mostBytes)} MB more.`);
  if (most - before > mostBytes) throw new Error('The browser took more memory than it should.');
} finally {
  await browser.close();
  await rm(folder, { recursive: true, force: true });
}

/** Bytes that are encrypted quickly: a piece of noise again and again. Every chunk of them is another. */
function repeated(seed: number, size: number): Buffer {
  return Buffer.alloc(size, noise(seed, 500_003));
}
