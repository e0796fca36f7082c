import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createTarchive } from '../../../src/archive/create-tar.ts';
import { encryptWorkers } from '../../../src/cli/encrypt-workers.ts';
import { nodePlatform } from '../../../src/cli/platform.ts';
import { PeerUrl } from '../../../src/peer-url.ts';
import { HttpWriter } from '../../../src/peers/transports/http-writer.ts';
import { publishFile } from '../../../src/publish/publish.ts';
import { uploadTo } from '../../../src/publish/upload.ts';
import { Codec } from '../../../src/self-encryption/codec.ts';
import { type Encrypter, withEncrypter } from '../../../src/self-encryption/encrypter.ts';
import { fromRoot } from '../../../tests/support/paths.ts';
import { type LabFile, noiseFiles, spreadSizes } from '../content.ts';
import type { Lab } from '../lab.ts';
import { Native } from '../native.ts';
import { gatewayCase, Reading, shared } from '../reading.ts';
import type { Case, Scenario } from '../scenario.ts';

/** Of the built command. */
const workers = encryptWorkers(pathToFileURL(fromRoot('dist-cli/antway-encrypt.js')));

/** Tahoe-LAFS's tree, and ten thousand small files. */
export const treePublish: Scenario = {
  name: 'tree-publish',
  summary:
    'A tree of 384 files in 63 folders (4.6 MB), and 10,000 files of 1–64 KB, are published to a peer as one tarchive ' +
    'by what the command uses; “native” only encrypts the same tar. Latencies are the gaps between signs of progress. ' +
    'The tree is read back by 16 readers.',
  measure: 'bytes',
  rounds: 2,
  isLong: true,
  targets: [{ case: 'tree, published', of: 'native', atLeast: 0.7 }],
  async setUp(lab) {
    const native = await Native.build(lab.scale);
    const tree = treeFiles(0);
    const archive = await lab.publishArchive(tree);
    const reading = await Reading.of(
      shared(
        tree.map((file) => ({ file })),
        16,
      ),
    );
    const gateway = await lab.openGateway();
    const count = lab.pick(10_000, 1_000, 50);
    return [
      ...publishCases(lab, native, 'tree', treeFiles),
      ...publishCases(lab, native, `${count} files`, (seed) =>
        noiseFiles(seed, spreadSizes(count, 1_000, 64_000), 'bin'),
      ),
      gatewayCase(
        gateway,
        'cold',
        reading.at(({ name }) => `/${archive.address}/${name}`),
        { name: 'tree, read cold', group: 'reading' },
      ),
    ];
  },
};

/** @param filesOf gives other files for another seed, so that the peer has none of a round's chunks before. */
function publishCases(
  lab: Lab,
  native: Native | undefined,
  group: string,
  filesOf: (seed: number) => LabFile[],
): Case[] {
  let seed = 100;
  let entries: { path: string; source: LabFile['source'] }[];
  const tar = join(lab.newFolder(), 'tree.tar');
  const codec = new Codec(nodePlatform);
  const cases: Case[] = [
    {
      name: `${group}, published`,
      role: 'gateway',
      group,
      async prepare() {
        seed = (seed % 150) + 50;
        entries = filesOf(seed).map(({ name, source }) => ({ path: name, source }));
      },
      async run() {
        const latenciesMs: number[] = [];
        const startedMs = performance.now();
        let lastMs = startedMs;
        const source = createTarchive(entries);
        const publish = (codec: Encrypter) =>
          publishFile(source, {
            codec,
            sink: uploadTo([new HttpWriter(PeerUrl.parse(lab.peer.url))]),
            progress() {
              latenciesMs.push(performance.now() - lastMs);
              lastMs = performance.now();
            },
          });
        const { size, presentChunks } = await withEncrypter(codec, source.size, workers, publish);
        const milliseconds = performance.now() - startedMs;
        if (presentChunks > 0) throw new Error('The peer had some of the chunks before.');
        return { bytes: size, requests: entries.length, milliseconds, latenciesMs };
      },
    },
  ];
  if (native) {
    cases.push({
      name: `${group}, encrypted`,
      role: 'native',
      group,
      async prepare() {
        const source = createTarchive(filesOf(1).map(({ name, source }) => ({ path: name, source })));
        await writeFile(tar, await source.read(0, source.size));
      },
      run: () => native.time('encrypt', tar),
    });
  }
  return cases;
}

/** 384 files in 63 folders, 4.6 MB. */
function treeFiles(seed: number): LabFile[] {
  const sizes = spreadSizes(384, 1_450, 42_000);
  return noiseFiles(seed, sizes, 'txt').map(({ name, source }, i) => {
    const folder = i % 63;
    return { name: `${'abc'[folder % 3]}/${folder}/${name}`, source };
  });
}
