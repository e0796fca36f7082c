import { bufferAccess } from '../../src/util/random-access.ts';
import type { PeerProcess } from '../../tests/support/peer-process.ts';
import { noise, publish, RepeatingFile } from '../../tests/support/publish.ts';
import { publishSite } from '../publish-site.ts';

/** A site of which one page is read. */
export interface Site {
  path: string;
  /** Of the whole archive. All of a site of up to three chunks is fetched for its first page. */
  bytes: number;
}

export interface Content {
  /** Small files, to open a session with. */
  warmUps: string[];
  /** Fits into what a server may send at once on a new connection. */
  smallSites: Site[];
  largeSites: Site[];
}

/** Files of the small sites' and the large sites' pages. */
const pagesPerSite = 8;
const smallPageBytes = 512;
const largePageBytes = 256 * 1024;

/** @param repeats sites of each size. */
export async function publishContent(peer: PeerProcess, repeats: number): Promise<Content> {
  const seeds = Array.from({ length: repeats }, (_, i) => i + 1);
  const content: Content = { warmUps: [], smallSites: [], largeSites: [] };
  for (let i = 0; i < 5; i++) content.warmUps.push(`/${await publish(noise(200 + i, 600), peer)}`);
  for (const seed of seeds) {
    content.smallSites.push(await site(peer, seed, smallPageBytes));
    content.largeSites.push(await site(peer, seed + 100, largePageBytes));
  }
  return content;
}

/** @param size is made the next larger one that the generator can make. */
export async function publishFile(peer: PeerProcess, size: number): Promise<string> {
  return `/${await publish(new RepeatingFile(size), peer)}`;
}

async function site(peer: PeerProcess, seed: number, pageBytes: number): Promise<Site> {
  const bytes = noise(seed, pagesPerSite * pageBytes);
  const pages = Array.from({ length: pagesPerSite }, (_, i) => ({
    path: `page-${i}.html`,
    source: bufferAccess(bytes.subarray(i * pageBytes, (i + 1) * pageBytes)),
  }));
  const { address, size } = await publishSite(peer, pages);
  return { path: `/${address.hex}/page-4.html`, bytes: size };
}
