import type { Report } from '../../src/site-pages/self-test/report.ts';
import { publishContent } from './embedding-site.ts';
import type { PeerProcess } from './peer-process.ts';
import type { HostConfig } from './processes.ts';

/** The configuration of a host that recommends the sample site, which a peer has. */
export async function withSample(peer: PeerProcess): Promise<HostConfig> {
  const { site: address } = await publishContent(peer);
  return { peers: [peer.url], sample: { title: 'Low Tide', address } };
}

/** The text of the report in the page `/-/self-test`, once it is there. To be run in the page. */
export const reportText = (): string | undefined => document.getElementById('report')?.textContent;

/** The names of the checks with this outcome, in their order. */
export function checksOf(report: Report, state: Report['results'][number]['state']): string[] {
  return report.results.filter((result) => result.state === state).map(({ id }) => id);
}
