import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encryptWorkers } from '../../../src/cli/encrypt-workers.ts';
import { nodePlatform } from '../../../src/cli/platform.ts';
import { fromRoot } from '../../../tests/support/paths.ts';
import { noise } from '../../../tests/support/publish.ts';
import { type Stage, timeStage } from '../bench.ts';
import { text } from '../content.ts';
import type { Lab } from '../lab.ts';
import type { LabPage } from '../lab-browser.ts';
import { Native } from '../native.ts';
import { type BenchGlobal, openBenchPage } from '../open-bench-page.ts';
import type { Case, Scenario } from '../scenario.ts';

const mebibyte = 1024 ** 2;
const kinds = ['noise', 'text'] as const;
type Kind = (typeof kinds)[number];

type Where =
  | 'browser'
  | 'browser, WebCrypto'
  | 'browser, libsodium'
  | 'browser, workers'
  | 'Node'
  | 'Node, workers';

const ciphers = ['browser', 'browser, WebCrypto', 'browser, libsodium'] as const satisfies Where[];

/** Back ends of the cipher. */
const aeads = {
  browser: 'kernel',
  'browser, workers': 'kernel',
  'browser, WebCrypto': 'native',
  'browser, libsodium': 'sodium',
} as const;

/** Of the built command. */
const nodeWorkers = encryptWorkers(pathToFileURL(fromRoot('dist-cli/antway-encrypt.js')));

/** The processing of chunks, stage by stage. */
export const codec: Scenario = {
  name: 'codec',
  summary:
    '16 MiB in parts of the size of chunks go through each stage of self-encryption, one part after the other, in the ' +
    'browser (with each back end of the cipher, which includes the pad) and in native code. Noise is as pictures and films are.',
  measure: 'bytes',
  rounds: 3,
  isLong: true,
  async setUp(lab) {
    const bench = await Bench.start(lab, lab.pick(16, 8, 1) * mebibyte);
    const cases: Case[] = [];
    for (const stage of ['blake3', 'xor'] as const) cases.push(...bench.cases(stage, 'noise', ['browser']));
    for (const stage of ['aead-encrypt', 'aead-decrypt'] as const) {
      cases.push(...bench.cases(stage, 'noise', ciphers));
    }
    for (const kind of kinds) {
      for (const stage of ['brotli-encode', 'brotli-decode'] as const) {
        cases.push(...bench.cases(stage, kind, ['browser']));
      }
      cases.push(...bench.cases('decrypt', kind, ciphers));
    }
    return cases;
  },
};

/** Encryption alone, without the upload. */
export const encrypt: Scenario = {
  name: 'encrypt',
  summary:
    'A file of 32 MiB is encrypted by the browser and by Node, each on one thread and with workers as publishing does it, ' +
    'and by the crate `self_encryption` on one core.',
  measure: 'bytes',
  rounds: 3,
  isLong: true,
  targets: kinds.flatMap((kind) => [
    { case: `encrypt, ${kind}, browser, workers`, of: 'native', atLeast: 0.9 } as const,
    { case: `encrypt, ${kind}, Node, workers`, of: 'native', atLeast: 0.9 } as const,
  ]),
  async setUp(lab) {
    const bench = await Bench.start(lab, lab.pick(32, 13, 1) * mebibyte);
    return kinds.flatMap((kind) =>
      bench.cases('encrypt', kind, ['browser', 'browser, workers', 'Node', 'Node, workers']),
    );
  },
};

/** A page with the codec in it, Node, and the native program if there is one; and files for all of them. */
class Bench {
  private constructor(
    private readonly page: LabPage,
    private readonly native: Native | undefined,
    /** With `noise.bin` and `text.bin`. */
    private readonly folder: string,
    private readonly size: number,
  ) {}

  static async start(lab: Lab, size: number): Promise<Bench> {
    const { page, folder } = await openBenchPage(lab);
    await writeFile(join(folder, 'noise.bin'), noise(5, size));
    await writeFile(join(folder, 'text.bin'), text(size));
    return new Bench(page, await Native.build(lab.scale), folder, size);
  }

  /** One for each place, and one for the native program. */
  cases(stage: Stage, kind: Kind, places: readonly Where[]): Case[] {
    const group = `${stage}, ${kind}`;
    const cases = places.map(
      (where): Case => ({
        name: `${group}, ${where}`,
        role: 'gateway',
        group,
        run: async () => ({
          bytes: this.size,
          requests: 1,
          milliseconds: await this.#time(stage, kind, where),
        }),
      }),
    );
    const { native } = this;
    // It has no XOR of its own to be called.
    if (!native || stage === 'xor') return cases;
    const run = () => native.time(stage, join(this.folder, `${kind}.bin`));
    return [...cases, { name: `${group}, native`, role: 'native', group, run }];
  }

  async #time(stage: Stage, kind: Kind, where: Where): Promise<number> {
    if (where === 'Node' || where === 'Node, workers') {
      const content = new Uint8Array(await readFile(join(this.folder, `${kind}.bin`)));
      return timeStage(stage, content, nodePlatform, where === 'Node' ? undefined : nodeWorkers);
    }
    return this.page.evaluate(
      ([stage, url, aead, hasWorkers]) =>
        (globalThis as BenchGlobal).benchPage.time(stage, url, aead, hasWorkers),
      [stage, `/${kind}.bin`, aeads[where], where === 'browser, workers'] as const,
    );
  }
}
