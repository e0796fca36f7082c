import { expect, test } from 'vitest';
import { parseH2load } from '../../perf/load/h2load.ts';

const told = (codes: string) => `progress: 100% done

finished in 5.66s, 1765.68 req/s, 8.62MB/s
requests: 10000 total, 10000 started, 10000 done, 9990 succeeded, 10 failed, 0 errored, 0 timeout
status codes: ${codes}
traffic: 48.83MB (51203000) total, 1.91MB (2003000) headers (space savings 0.00%), 46.73MB (49000000) data
                     min         max         mean         sd        +/- sd
time for request:    26.47ms       1.84s    299.74ms    300.31ms    86.53%
time for connect:     9.30ms       3.10s       1.02s    604.22ms    57.13%
`;

test('the summary of h2load is parsed', () => {
  expect(parseH2load(told('10000 2xx, 0 3xx, 0 4xx, 0 5xx'), 10_000)).toEqual({
    requestsPerSecond: 1765.68,
    good: 10_000,
    bad: 0,
    times: '26.47ms 1.84s 299.74ms 300.31ms 86.53%',
  });
});

test('every answer that is not 2xx counts as bad, and so does every missing answer', () => {
  expect(parseH2load(told('9980 2xx, 0 3xx, 15 4xx, 0 5xx'), 10_000).bad).toBe(20);
});

test('another text is not read as if nothing had failed', () => {
  expect(() => parseH2load('h2load: error', 10)).toThrow('h2load did not tell');
});
