// The types of prebuilt-peer.mjs.

/** The platforms with a package, as Node names them. */
export const prebuiltPlatforms: readonly string[];

export type PrebuiltPeer = { name: string; program: string } | { name: string; problem: string };

/** Finds the package with the peer for this system, and starts its program once to see that it runs here. */
export function findPrebuiltPeer(options: {
  version: string;
  folders: readonly string[];
  platform?: string;
}): PrebuiltPeer | undefined;

/** The peer that `npm start` begins with. */
export function choosePeer(options: {
  wanted: 'node' | 'rust' | undefined;
  isBuilt: boolean;
  find: () => PrebuiltPeer | undefined;
}): { peer: 'node' | 'rust'; prebuilt?: PrebuiltPeer; prebuiltProblem?: string | undefined };
