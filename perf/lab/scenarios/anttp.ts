import { noiseFiles, pictureSizes } from '../content.ts';
import type { Lab } from '../lab.ts';
import type { PublishedFile } from '../publishing.ts';
import { antTpCase, bareCase, ceilingCase, gatewayCase, Reading, shared, staticCase } from '../reading.ts';
import type { Case, Scenario, Target } from '../scenario.ts';

const readers = 10;
const what =
  '10 readers at once, each of 8 pictures one after the other, 437 KB on average and all different';

const targets: readonly Target[] = [
  { case: 'hot', of: 'ceiling', atLeast: 0.85 },
  { case: 'cold', of: 'bare', atLeast: 0.8 },
];

/** @param ratios to AntTP, which has everything on its disk. */
function targetsOfAntTp(ratios: Record<'warm' | 'cold', number>): Target[] {
  return Object.entries(ratios).map(([name, atLeast]) => ({ case: name, of: 'anttp', atLeast }));
}

/** AntTP's own measurement, with the pictures as single files. */
export const antTpSmall: Scenario = {
  name: 'anttp-small',
  summary: `${what}, as single files.`,
  measure: 'bytes',
  rounds: 5,
  targets: [...targets, ...targetsOfAntTp({ warm: 1.5, cold: 1 })],
  setUp: (lab) => setUp(lab, 'small'),
};

/** The same with the pictures as members of one tarchive. */
export const antTpTarchive: Scenario = {
  ...antTpSmall,
  name: 'anttp-tarchive',
  summary: `${what}, as members of one tarchive.`,
  targets: [...targets, ...targetsOfAntTp({ warm: 2.5, cold: 1.3 })],
  setUp: (lab) => setUp(lab, 'tarchive'),
};

async function setUp(lab: Lab, shape: 'small' | 'tarchive'): Promise<Case[]> {
  const files = noiseFiles(11, pictureSizes(lab.pick(80, 80, 10)), 'jpg');
  const reading = await Reading.of(
    shared(
      files.map((file) => ({ file })),
      readers,
    ),
  );
  const published = new Map<string, PublishedFile>();
  let moved: PublishedFile[][];
  let pathOf: (name: string) => string;
  if (shape === 'tarchive') {
    const archive = await lab.publishArchive(files);
    moved = [[archive]];
    pathOf = (name) => `/${archive.address}/${name}`;
  } else {
    for (const { name, source } of files) published.set(name, await lab.publish(source));
    moved = shared([...published.values()], readers);
    pathOf = (name) => `/${published.get(name)!.address}`;
  }
  await lab.layOut('pictures', files);

  const gateway = await lab.openGateway();
  const staticPage = await lab.openBaseline('static');
  const throughGateway = reading.at(({ name }) => pathOf(name));
  return [
    gatewayCase(gateway, 'cold', throughGateway),
    gatewayCase(gateway, 'warm', throughGateway),
    gatewayCase(gateway, 'hot', throughGateway),
    ceilingCase(
      await lab.openBaseline('ceiling'),
      reading.at(({ name }) => `/ceiling/pictures/${name}`),
    ),
    staticCase(
      staticPage,
      reading.at(({ name }) => `/static/pictures/${name}`),
    ),
    // A small file's records by one request, as it would be if nothing had to be found out first.
    bareCase(lab, await lab.openBaseline('bare'), moved, { perRequest: shape === 'small' ? 64 : 1 }),
    ...(lab.antTp
      ? [
          antTpCase(
            staticPage,
            lab.antTp,
            reading.at(({ name }) => lab.antTp!.url + pathOf(name)),
          ),
        ]
      : []),
  ];
}
