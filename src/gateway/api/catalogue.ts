import { checkListSize } from '../../catalogue.ts';
import { AntwayError } from '../../errors.ts';
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

/** The most names of files in one answer. The newest sites come first. */
const mostFiles = 5_000;

/** `/-/recent-files`: the names of the files in the sites that were opened last, as noted at the visit. */
export const recentFiles: Endpoint = {
  async GET(_url, _request, { library, recentFiles }) {
    const visits = (await listed(library.visits.list())).filter(({ lastOpened }) => lastOpened !== null);
    const noted = new Map((await listed(recentFiles.list())).map(({ address, files }) => [address, files]));
    let room = mostFiles;
    const sites = visits
      .map(({ address, path }) => {
        const files = noted.get(address)?.slice(0, room) ?? [];
        room -= files.length;
        return { address, path, files };
      })
      .filter(({ files }) => files.length > 0);
    return { sites };
  },
};
