import { Address } from '../../address.ts';
import { checkListSize } from '../../catalogue.ts';
import type { Resolver } from '../../content/resolver.ts';
import { AntwayError } from '../../errors.ts';
import type { Visit } from '../../library/visits.ts';
import { addressIn } from './body.ts';
import type { Endpoint } from './endpoint.ts';
import { listed } from './storage.ts';

/**
 * `/-/lists`: the text of a configured list of sites or names, which the page parses.
 * Security: only configured lists are read, so that no page can make the gateway follow an address for it.
 */
export const lists: Endpoint = {
  async GET(url, request, { effective: { config }, resolver }) {
    const address = addressIn(url);
    if (![...config.lists.values(), ...config.nameLists.values()].some((list) => list.equals(address))) {
      throw new AntwayError('REFUSED', 'This list is not configured.', { address: address.hex });
    }
    const { content } = await resolver.locate(address, request.signal);
    if (content.kind === 'archive') {
      const message = 'A list is a JSON file. This address is a site.';
      throw new AntwayError('UNSUPPORTED', message, { address: address.hex });
    }
    const { source } = content;
    checkListSize(source.size);
    return { text: new TextDecoder().decode(await source.read(0, source.size, request.signal)) };
  },
};

/** Bounds of one answer. The newest sites come first. */
const most = { sites: 30, filesPerSite: 1_000, files: 5_000 };

/** `/-/recent-files`: the names of the files in the sites that were opened last. Reads stored chunks only, asks no peer. */
export const recentFiles: Endpoint = {
  async GET(_url, _request, { library, local }) {
    const visits = (await listed(library.visits.list())).filter(({ lastOpened }) => lastOpened !== null);
    const found = await Promise.all(
      visits.slice(0, most.sites).map(async (visit) => ({ visit, files: await storedFiles(visit, local) })),
    );
    let room = most.files;
    const sites = found
      .map(({ visit: { address, path }, files }) => {
        const shown = files.slice(0, room);
        room -= shown.length;
        return { address, path, files: shown };
      })
      .filter(({ files }) => files.length > 0);
    return { sites };
  },
};

/** @returns no paths if the site is one file, or if its index is not stored. */
async function storedFiles({ address }: Visit, local: Resolver): Promise<string[]> {
  try {
    const { content } = await local.locate(Address.fromHex(address));
    return content.kind === 'archive' ? [...content.archive.members.keys()].slice(0, most.filesPerSite) : [];
  } catch {
    return [];
  }
}
