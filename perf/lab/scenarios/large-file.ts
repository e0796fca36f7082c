import { LargeFile } from '../content.ts';
import { antTpCase, bareCase, ceilingCase, gatewayCase, Reading, staticCase } from '../reading.ts';
import type { Scenario } from '../scenario.ts';

const mebibyte = 1024 ** 2;

/** Varasto's large file. */
export const largeFile: Scenario = {
  name: 'large-file',
  summary: 'One page reads a file of 595 MiB as a stream; its peer has WebTransport, or HTTP alone.',
  measure: 'bytes',
  rounds: 2,
  isLong: true,
  targets: [
    { case: 'warm', of: 'ceiling', atLeast: 0.6 },
    { case: 'cold', of: 'bare', atLeast: 0.9 },
    { case: 'warm', of: 'anttp', atLeast: 1.2 },
    { case: 'cold', of: 'anttp', atLeast: 0.8 },
  ],
  async setUp(lab) {
    const file = { name: 'large.bin', source: new LargeFile(lab.pick(595, 96, 12) * mebibyte) };
    // A store belongs to one process.
    const overHttp = await lab.startPeer({ webTransport: 'none' });
    const published = await lab.publish(file.source, overHttp);
    await lab.layOut('large', [file, { name: 'period.bin', source: new LargeFile(LargeFile.period) }]);
    const reading = await Reading.of([[{ file }]]);
    const throughGateway = reading.at(() => `/${published.address}`);
    const staticPage = await lab.openBaseline('static');
    const gateway = await lab.openGateway();
    return [
      gatewayCase(gateway, 'cold', throughGateway),
      gatewayCase(await lab.openGateway({ transport: 'http', peer: overHttp }), 'cold', throughGateway, {
        name: 'cold, HTTP',
      }),
      gatewayCase(gateway, 'warm', throughGateway),
      ceilingCase(
        await lab.openBaseline('ceiling'),
        reading.at(() => `/ceiling/large/period.bin?size=${file.source.size}`),
      ),
      staticCase(
        staticPage,
        reading.at(() => '/static/large/large.bin'),
      ),
      bareCase(lab, await lab.openBaseline('bare'), [[published]], { perRequest: 1 }),
      ...(lab.antTp
        ? [
            antTpCase(
              staticPage,
              lab.antTp,
              reading.at(() => `${lab.antTp!.url}/${published.address}`),
            ),
          ]
        : []),
    ];
  },
};

/** Ktor's big file. */
export const bigFileX4: Scenario = {
  name: 'big-file-x4',
  summary: 'One page reads a file of 100 MB four times at once.',
  measure: 'bytes',
  rounds: 2,
  isLong: true,
  async setUp(lab) {
    const file = { name: 'big.bin', source: new LargeFile(lab.pick(100e6, 25e6, 13e6)) };
    const published = await lab.publish(file.source);
    await lab.layOut('big', [file, { name: 'period.bin', source: new LargeFile(LargeFile.period) }]);
    const request = { file };
    const reading = await Reading.of([[request], [request], [request], [request]]);
    const gateway = await lab.openGateway();
    const throughGateway = reading.at(() => `/${published.address}`);
    return [
      gatewayCase(gateway, 'cold', throughGateway),
      gatewayCase(gateway, 'warm', throughGateway),
      ceilingCase(
        await lab.openBaseline('ceiling'),
        reading.at(() => `/ceiling/big/period.bin?size=${file.source.size}`),
      ),
      staticCase(
        await lab.openBaseline('static'),
        reading.at(() => '/static/big/big.bin'),
      ),
    ];
  },
};

/** That memory does not depend on the size of a file. */
export const memory: Scenario = {
  name: 'memory',
  summary: 'One page reads files of 128 and 512 MiB; what counts is the peak of the worker’s memory.',
  measure: 'bytes',
  rounds: 1,
  needsChromium: true,
  isLong: true,
  async setUp(lab) {
    const sizes = lab.pick([128, 512], [32, 64], [13]);
    const gateway = await lab.openGateway();
    const cases = [];
    for (const size of sizes) {
      const file = { name: `${size}.bin`, source: new LargeFile(size * mebibyte) };
      const { address } = await lab.publish(file.source);
      const readers = (await Reading.of([[{ file }]])).at(() => `/${address}`);
      for (const state of ['cold', 'warm'] as const) {
        cases.push(gatewayCase(gateway, state, readers, { name: `${size} MiB, ${state}` }));
      }
    }
    return cases;
  },
};
