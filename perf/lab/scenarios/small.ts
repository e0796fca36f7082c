import { noiseFiles, spreadSizes } from '../content.ts';
import type { Lab } from '../lab.ts';
import {
  antTpCase,
  ceilingCase,
  gatewayCase,
  Reading,
  type Request,
  repeated,
  shared,
  staticCase,
} from '../reading.ts';
import type { Case, Scenario } from '../scenario.ts';

/** Ktor's small payload. */
export const smallPayload: Scenario = {
  name: 'small-payload',
  summary: 'A page has 64 requests in flight, for single files of 256 bytes.',
  measure: 'requests',
  rounds: 4,
  targets: [{ case: 'hot', of: 'ceiling', atLeast: 0.8 }],
  setUp: (lab) => inFlight(lab, { size: 256, readers: 64, each: lab.pick(40, 30, 3) }),
};

/** Skitai's and FastAPI's `h2load -n 10000 -c 1024`, with half of its requests: it is a long scenario on a slow machine. */
export const concurrency: Scenario = {
  name: 'concurrency-1024',
  summary: 'A page has 1,024 requests in flight, 5,120 in all, for single files of 4.9 KB.',
  measure: 'requests',
  rounds: 2,
  isLong: true,
  setUp: (lab) => inFlight(lab, { size: 4900, readers: lab.pick(1024, 1024, 128), each: lab.pick(5, 3, 2) }),
};

async function inFlight(
  lab: Lab,
  { size, readers, each }: { size: number; readers: number; each: number },
): Promise<Case[]> {
  const files = noiseFiles(size % 251, Array<number>(16).fill(size), 'bin');
  const requests = files.map((file): Request => ({ file }));
  const reading = await Reading.of(
    Array.from({ length: readers }, (_, i) => repeated(requests[i % requests.length]!, each)),
  );
  const addresses = new Map<string, string>();
  for (const { name, source } of files) addresses.set(name, (await lab.publish(source)).address);
  await lab.layOut('small', files);
  const gateway = await lab.openGateway();
  const staticPage = await lab.openBaseline('static');
  return [
    gatewayCase(
      gateway,
      'hot',
      reading.at(({ name }) => `/${addresses.get(name)}`),
    ),
    ceilingCase(
      await lab.openBaseline('ceiling'),
      reading.at(({ name }) => `/ceiling/small/${name}`),
    ),
    staticCase(
      staticPage,
      reading.at(({ name }) => `/static/small/${name}`),
    ),
    ...(lab.antTp
      ? [
          antTpCase(
            staticPage,
            lab.antTp,
            reading.at(({ name }) => `${lab.antTp!.url}/${addresses.get(name)}`),
          ),
        ]
      : []),
  ];
}

/** The case that Varasto left open. */
export const manySmall: Scenario = {
  name: 'many-small',
  summary:
    '16 readers share 5,000 files of 1–64 KB (most of them small) in one tarchive, and 200 of them as single files.',
  measure: 'requests',
  rounds: 2,
  isLong: true,
  targets: [
    { case: 'single files, cold', of: 'ceiling', atLeast: 0.6 },
    { case: 'single files, warm', of: 'ceiling', atLeast: 0.7 },
  ],
  async setUp(lab) {
    const files = noiseFiles(23, spreadSizes(lab.pick(5_000, 2_000, 40), 1_000, 64_000), 'bin');
    const requests = files.map((file): Request => ({ file }));
    const singles = requests.slice(0, lab.pick(200, 50, 5));
    const readers = 16;
    const reading = await Reading.of(shared(requests, readers));
    const readingSingles = await Reading.of(shared(singles, readers));
    const archive = await lab.publishArchive(files);
    const addresses = new Map<string, string>();
    for (const { file } of singles) addresses.set(file.name, (await lab.publish(file.source)).address);
    await lab.layOut('many', files);
    const gateway = await lab.openGateway();
    const ceilingPage = await lab.openBaseline('ceiling');
    const staticPage = await lab.openBaseline('static');
    const inArchive = reading.at(({ name }) => `/${archive.address}/${name}`);
    const alone = readingSingles.at(({ name }) => `/${addresses.get(name)}`);
    const group = 'single files';
    return [
      gatewayCase(gateway, 'cold', inArchive),
      gatewayCase(gateway, 'warm', inArchive),
      ceilingCase(
        ceilingPage,
        reading.at(({ name }) => `/ceiling/many/${name}`),
      ),
      staticCase(
        staticPage,
        reading.at(({ name }) => `/static/many/${name}`),
      ),
      gatewayCase(gateway, 'cold', alone, { name: 'single files, cold', group }),
      gatewayCase(gateway, 'warm', alone, { name: 'single files, warm', group }),
      ceilingCase(
        ceilingPage,
        readingSingles.at(({ name }) => `/ceiling/many/${name}`),
        { name: 'single files, ceiling', group },
      ),
      staticCase(
        staticPage,
        readingSingles.at(({ name }) => `/static/many/${name}`),
        { name: 'single files, static', group },
      ),
    ];
  },
};
