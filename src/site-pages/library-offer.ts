import * as v from 'valibot';
import { hexAddress } from '../address.ts';
import { parseSettings } from '../config.ts';
import { AntwayError } from '../errors.ts';
import { languages } from '../languages.ts';
import { visitIcon } from '../library/visits.ts';
import { limits } from '../limits.ts';
import { type LeftName, mergeNames } from '../names/name-changes.ts';
import { PeerUrl } from '../peer-url.ts';
import * as s from '../schema.ts';
import type { Settings } from '../server-config.ts';
import { sanitizeText } from '../util/sanitize-text.ts';
import type { LibraryOffer, OfferedSite } from './messages.ts';

/** More entries could not be shown to the user, or would take for ever. */
const most = { sites: 10_000, publications: 10_000 };

const mostTitleCharacters = 200;

/** The most entries of each list in the settings. */
export const mostSettings = { peers: 32, names: 1_000, denied: 10_000, lists: 100, nameLists: 16 };

/** Host names at which the same gateway runs without origins of sites. */
const formerHosts = ['127.0.0.1', 'localhost', '[::1]'];

/** The origin that may offer its library. @param fragment `#` and the host name that the page was opened with. */
export function formerOrigin(
  { hostname, port }: Pick<Location, 'hostname' | 'port'>,
  fragment: string,
): string | undefined {
  const host = fragment.slice(1);
  if (hostname !== 'antway.localhost' || !formerHosts.includes(host)) return undefined;
  return `http://${host}${port && `:${port}`}`;
}

const lowerCaseAddress = v.pipe(hexAddress, v.toLowerCase());

/** The worker checks the other properties before it stores the visit. */
const offeredSite = s.object({
  address: lowerCaseAddress,
  title: v.nullable(
    v.pipe(
      v.string(),
      v.transform((title) => title.slice(0, limits.titleCharacters)),
    ),
  ),
  isPinned: v.boolean(),
  isPrivate: v.boolean(),
  path: v.optional(v.unknown()),
  name: v.optional(v.unknown()),
  icon: v.optional(v.fallback(v.nullable(visitIcon), null)),
  kind: v.optional(v.unknown()),
  lastOpened: v.optional(v.unknown()),
}) as s.Schema<OfferedSite>;

const offeredPublication = s.object({
  id: lowerCaseAddress,
  title: v.pipe(
    v.string(),
    v.transform((title) => sanitizeText(title, mostTitleCharacters)),
  ),
});

const offerSchema = s.object({
  language: v.fallback(v.picklist(languages), 'en'),
  sites: s.list(offeredSite, most.sites),
  settings: v.optional(v.unknown()),
  restricted: s.list(lowerCaseAddress, most.sites),
  /** Backups of earlier builds have none. */
  publications: v.optional(s.list(offeredPublication, most.publications), []),
});

/**
 * The input is not trusted, because a site that runs scripts on the shell's origin can also send an offer.
 * @throws AntwayError `REFUSED` for an offer of another form, `BAD_CONFIG` for invalid settings.
 */
export function parseOffer(value: unknown, origin: string): LibraryOffer {
  const offer = s.parse(offerSchema, value, 'REFUSED', 'The library');
  return { ...offer, settings: offeredSettings(offer.settings, origin) };
}

/** Each peer is spelled as the gateway writes it, so that the user sees what is set. */
function offeredSettings(value: unknown, origin: string): Settings {
  // Checked before the entries, because each takes time to parse.
  const lists: Record<string, unknown> = Object(value);
  if (Object.entries(mostSettings).some(([key, count]) => sizeOf(lists[key]) > count)) {
    throw new AntwayError('TOO_LARGE', 'These settings are too large to be taken over.');
  }
  const settings = parseSettings(value);
  const { peers } = settings;
  return {
    ...settings,
    ...(peers && { peers: peers.map((peer) => String(PeerUrl.parse(peer, origin))) }),
  };
}

function sizeOf(entries: unknown): number {
  return Object.keys(Object(entries ?? [])).length;
}

/**
 * Leaves out the entries of settings past `mostSettings`. Does not check the rest.
 * @returns the settings, and how many entries were left out of each list.
 */
export function withoutExcess(value: unknown): { settings: unknown; excess: Map<string, number> } {
  const excess = new Map<string, number>();
  if (typeof value !== 'object' || value === null) return { settings: value, excess };
  const settings: Record<string, unknown> = { ...value };
  for (const [key, count] of Object.entries(mostSettings)) {
    const entries = settings[key];
    const size = sizeOf(entries);
    if (size <= count || typeof entries !== 'object') continue;
    settings[key] = Array.isArray(entries)
      ? entries.slice(0, count)
      : Object.fromEntries(Object.entries(entries!).slice(0, count));
    excess.set(key, size - count);
  }
  return { settings, excess };
}

/**
 * The settings of this origin take precedence. The result has the names, lists, cache limits and denied addresses of both.
 * @param host what the host gives: a file of a stranger must not bring the same names and labels with another meaning.
 * @returns also the names that are left out, because they are invalid or could be confused with others.
 */
export function mergeSettings(
  own: Settings,
  offered: Settings,
  host: Pick<Settings, 'names' | 'nameLists'> = {},
): { merged: Settings; left: LeftName[] } {
  // The user allows connections to nodes in each browser anew: nodes learn the IP address.
  const { useNodes: _, ...taken } = offered;
  const merged: Settings = { ...taken, ...own };
  const { names, left } = mergeNames(own.names ?? {}, offered.names ?? {}, {
    taken: host.names,
    most: mostSettings.names,
  });
  const labels = mergeNames(own.nameLists ?? {}, offered.nameLists ?? {}, {
    taken: host.nameLists,
    most: mostSettings.nameLists,
  });
  if (own.names || offered.names) merged.names = names;
  if (own.nameLists || offered.nameLists) merged.nameLists = labels.names;
  if (own.lists || offered.lists) merged.lists = { ...offered.lists, ...own.lists };
  if (own.cache || offered.cache) merged.cache = { ...offered.cache, ...own.cache };
  if (own.denied || offered.denied) {
    const all = [...(own.denied ?? []), ...(offered.denied ?? [])];
    merged.denied = [...new Set(all.map((address) => address.toLowerCase()))];
  }
  return { merged, left: [...left, ...labels.left] };
}
