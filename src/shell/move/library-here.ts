import { AntwayError } from '../../errors.ts';
import type { Publication } from '../../gateway/state/publications.ts';
import { limits } from '../../limits.ts';
import type { LibraryOffer } from '../../site-pages/messages.ts';
import { gateway } from '../gateway-api.ts';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import { language } from '../texts/texts.ts';

/** The library at this address, without the content of sites and without trust in scripts. */
export async function libraryHere(signal: AbortSignal): Promise<LibraryOffer> {
  const [sites, settings, decisions, published] = await Promise.all([
    gateway.storedSites(signal),
    gateway.settings(signal),
    gateway.trust(signal),
    publicationsHere(),
  ]);
  return {
    language,
    sites: sites.map(({ address, path, name, title, icon, kind, lastOpened, pin, isManifest }) => ({
      // Titles that were stored earlier may be longer.
      ...{ address, path, name, title: title?.slice(0, limits.titleCharacters) ?? null },
      ...{ icon, kind, lastOpened },
      isPinned: pin !== null,
      isPrivate: isManifest,
    })),
    settings,
    restricted: decisions.filter(({ decision }) => decision === 'restricted').map(({ address }) => address),
    publications: published.map(({ id, title, name }) => ({ id, title: title || name })),
  };
}

/** Loaded on demand, because the first screen does not need it. Empty if the browser blocks storage. */
export async function publicationsHere(): Promise<Publication[]> {
  const { publications } = await import('../../gateway/state/publications.ts');
  return publications.list().catch((error) => {
    if (error instanceof AntwayError && error.details.isBlocked) return [];
    throw error;
  });
}

/** A publication as another library reads it. @throws AntwayError `NOT_FOUND`. */
export async function publicationFile(id: string): Promise<Blob> {
  const { publications } = await import('../../gateway/state/publications.ts');
  const publication = await publications.find(id);
  if (publication) return new Blob([JSON.stringify(publication)]);
  throw new AntwayError('NOT_FOUND', `The publication ${id} is not listed any more.`);
}

/** A pinned site with all of its chunks, from the origin that stores it. @throws GatewayApiError if it is incomplete. */
export async function pinnedSiteFile(address: string): Promise<Blob> {
  const hasOwnOrigin = (await gateway.origins()).some(
    (origin) => origin.address === address && origin.report?.pin,
  );
  return (hasOwnOrigin ? siteOriginClient : gateway).exportSite(address);
}
