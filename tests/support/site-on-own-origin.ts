import { Address } from '../../src/address.ts';
import type { PeerProcess } from './peer-process.ts';
import type { Processes } from './processes.ts';
import { publish } from './publish.ts';
import type { Files } from './tar.ts';
import { makeTarchive } from './tarchive.ts';

/** A gateway at a name below which sites have origins of their own, and a site that a peer holds. */
export interface SiteOnOwnOrigin {
  peer: PeerProcess;
  host: PeerProcess;
  address: string;
  /** Origin of the gateway, without a slash at its end. */
  root: string;
  /** Origin of the site, without a slash at its end. */
  origin: string;
}

/** Publishes a site and starts its gateway. */
export async function startSiteOnOwnOrigin(
  { startPeer, startHost }: Pick<Processes, 'startPeer' | 'startHost'>,
  files: Files,
): Promise<SiteOnOwnOrigin> {
  const peer = await startPeer();
  const address = await publish(await makeTarchive(files), peer);
  const host = await startHost({ peers: [peer.url] });
  const root = `http://antway.localhost:${new URL(host.url).port}`;
  const origin = root.replace('//', `//${Address.fromHex(address).base32}.`);
  return { peer, host, address, root, origin };
}
