import { build } from 'vite';
import { libsodiumWasm } from '../../build/libsodium-wasm.ts';
import { fromRoot } from '../../tests/support/paths.ts';
import type { BenchPage } from './bench-page/bench-page.ts';
import type { Lab } from './lab.ts';
import type { LabPage } from './lab-browser.ts';

/** A page with the modules that are timed by themselves, and the folder that its host serves. */
export interface OpenBenchPage {
  page: LabPage;
  folder: string;
}

export async function openBenchPage(lab: Lab): Promise<OpenBenchPage> {
  const folder = lab.newFolder();
  await build({
    configFile: false,
    root: fromRoot('perf/lab/bench-page'),
    logLevel: 'error',
    plugins: [libsodiumWasm()],
    worker: { format: 'es', plugins: () => [libsodiumWasm()] },
    build: { outDir: folder, target: 'es2022', assetsInlineLimit: 0, modulePreload: false },
  });
  const host = await lab.startPeer({ flags: ['--web', folder], webTransport: 'none' });
  const page = await lab.openPage(host.url);
  await page.waitForFunction(() => 'benchPage' in globalThis);
  return { page, folder };
}

/** The global scope of functions that `evaluate` calls in such a page. */
export type BenchGlobal = typeof globalThis & { benchPage: BenchPage };
