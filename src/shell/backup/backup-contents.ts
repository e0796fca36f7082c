import * as v from 'valibot';
import { hexAddress } from '../../address.ts';
import { encodeMember, tarEnd } from '../../archive/create-tar.ts';
import { encodeHeader } from '../../archive/encode-header.ts';
import { paddedToBlock } from '../../archive/tar-header.ts';
import { DamagedTar, tarMembers } from '../../archive/tar-members.ts';
import { AntwayError } from '../../errors.ts';
import { mostPublicationBytes } from '../../gateway/state/publications.ts';
import { backupProblem } from '../../library/backup/backup-problem.ts';
import { parseVisit } from '../../library/visits.ts';
import { limits } from '../../limits.ts';
import * as s from '../../schema.ts';
import { mostSettings, parseOffer, withoutExcess } from '../../site-pages/library-offer.ts';
import type {
  LibraryOffer,
  LibraryPart,
  OfferedPublication,
  OfferedSite,
} from '../../site-pages/messages.ts';
import type { Theme } from '../../themes.ts';
import { themes } from '../../themes.ts';
import { bufferAccess, type RandomAccess } from '../../util/random-access.ts';
import { type BackupPointer, checkPointers, pointerList } from './backup-pointers.ts';

/** A decision of the user that a site may run scripts. */
export interface TrustedSite {
  address: string;
  /** The content that the trust is bound to. Null for every version of a pointer. */
  content: string | null;
}

/** The description at the beginning of a backup. */
export interface BackupDescription extends LibraryOffer {
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The origin of the gateway that was backed up. */
  origin: string;
  theme: Theme | null;
  trusted: TrustedSite[];
  pointers: BackupPointer[];
}

/** A file in a backup: a manifest of a private site, the export of a site with all of its chunks, or a publication. */
export interface BackupFile {
  kind: LibraryPart;
  /** The id of a publication. */
  address: string;
  file: Blob;
}

const format = 'antway-backup';
const version = 1;
const descriptionName = 'antway-backup.json';
const mostDescriptionBytes = 16 * 1024 * 1024;
/** Two files for each of the most sites, all publications, and the description. Each may have a pax header. */
const mostHeaders = 65_000;
const folders = { manifest: 'manifests', site: 'sites', publication: 'publications' } as const;
/** The most bytes of a file. A site has as many as its chunks. */
const mostBytes = {
  manifest: limits.manifestBytes,
  publication: mostPublicationBytes,
  site: Number.POSITIVE_INFINITY,
};

/** Writes the content of a backup as a tar, piece by piece. A file is read when its turn comes. */
export async function* writeContents(
  description: BackupDescription,
  files: AsyncIterable<BackupFile>,
): AsyncGenerator<Uint8Array, void> {
  yield encodeDescription(description);
  for await (const { kind, address, file } of files) {
    yield encodeHeader(`${folders[kind]}/${address}`, file.size);
    const reader = file.stream().getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
    yield new Uint8Array(paddedToBlock(file.size) - file.size);
  }
  yield tarEnd;
}

function encodeDescription(description: BackupDescription): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify({ format, version, ...description }));
  if (json.length > mostDescriptionBytes) {
    throw new AntwayError('TOO_LARGE', 'The library has too many entries for a backup.');
  }
  return encodeMember(descriptionName, json);
}

/** Before a backup is made of it. @throws AntwayError if the description could not be restored, as `readContents`. */
export async function checkDescription(description: BackupDescription): Promise<void> {
  await readContents(bufferAccess(encodeDescription(description)), description.origin);
}

export interface BackupContents {
  description: BackupDescription;
  /** Entries that are left out, with the reason. */
  refused: { what: string; reason: string }[];
  has(kind: BackupFile['kind'], address: string): boolean;
  /** @throws AntwayError `NOT_FOUND` if the backup has no such file, `TOO_LARGE` if it is too large for its kind. */
  get(kind: BackupFile['kind'], address: string): Promise<Blob>;
  /** The bytes of all sites in it. */
  siteBytes: number;
}

const address = v.pipe(hexAddress, v.toLowerCase());

const additions = s.object({
  format: v.literal(format),
  version: v.number(),
  createdAt: s.integer('milliseconds'),
  origin: v.pipe(v.string(), v.maxLength(300)),
  theme: v.fallback(v.nullable(v.picklist(themes)), null),
  trusted: s.list(s.object({ address, content: v.nullable(address) }), 10_000),
  /** Backups of earlier builds have none. */
  pointers: v.optional(pointerList, []),
});

/**
 * Reads the content of a backup. A stranger may have made it and told the user the passphrase, so every value is checked
 * like the input of a stranger.
 * @param origin of this gateway, which resolves peers without a host.
 * @throws AntwayError `CORRUPT`, `REFUSED`, `BAD_CONFIG`, `TOO_LARGE` or `UNSUPPORTED`. Nothing is applied then.
 */
export async function readContents(
  tar: RandomAccess,
  origin: string,
  now = Date.now(),
): Promise<BackupContents> {
  const members = new Map<string, { offset: number; size: number }>();
  let json: unknown;
  try {
    for await (const { path, offset, size } of tarMembers(tar, { maxHeaders: mostHeaders })) {
      if (members.has(path))
        throw new AntwayError('CORRUPT', `The backup has two files ${path.slice(0, 100)}.`);
      if (members.size === 0) json = await descriptionIn(tar, path, offset, size);
      else if (!/^(manifests|publications|sites)\/[0-9a-f]{64}$/.test(path))
        throw odd(`an unknown file ${path.slice(0, 100)}`);
      members.set(path, { offset, size });
    }
  } catch (error) {
    throw error instanceof DamagedTar ? odd(error.message) : error;
  }
  if (members.size === 0) throw odd('no description');
  const { format: _, version: found, ...more } = s.parse(additions, json, 'REFUSED', 'The backup');
  if (found !== version) throw backupProblem('newer');
  const { settings, excess } = withoutExcess((json as { settings?: unknown }).settings);
  const offer = parseOffer({ ...(json as object), settings }, origin);
  const nameOf = (kind: BackupFile['kind'], hex: string) => `${folders[kind]}/${hex}`;
  const has = (kind: BackupFile['kind'], hex: string) => members.has(nameOf(kind, hex));
  const { sites, refused } = checkSites(offer.sites, has, now);
  const publications = checkPublications(offer.publications, has, refused);
  const pointers = checkPointers(more.pointers, refused);
  for (const [key, count] of excess) {
    const most = mostSettings[key as keyof typeof mostSettings];
    refused.push({ what: key, reason: `It has ${count} entries more than ${most}. They are left out.` });
  }
  return {
    description: { ...offer, ...more, sites, publications, pointers },
    ...{ refused, has },
    siteBytes: [...members].reduce(
      (sum, [path, { size }]) => sum + (path.startsWith('sites/') ? size : 0),
      0,
    ),
    async get(kind, hex) {
      const member = members.get(nameOf(kind, hex));
      if (!member) throw new AntwayError('NOT_FOUND', `The backup has no ${kind} ${hex}.`, { address: hex });
      if (member.size > mostBytes[kind])
        throw new AntwayError('TOO_LARGE', `A ${kind} has at most ${mostBytes[kind]} bytes.`);
      return blobOf(tar, member.offset, member.size);
    },
  };
}

async function descriptionIn(
  tar: RandomAccess,
  path: string,
  offset: number,
  size: number,
): Promise<unknown> {
  if (path !== descriptionName) throw odd('no description at its beginning');
  if (size > mostDescriptionBytes) throw backupProblem('limits');
  try {
    return JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(await tar.read(offset, offset + size)),
    );
  } catch (error) {
    if (error instanceof AntwayError) throw error;
    throw odd('a description that is not JSON');
  }
}

function odd(what: string): AntwayError {
  return new AntwayError('UNSUPPORTED', `This backup has ${what}. Antway makes no such backup.`);
}

/** Leaves out entries that the library could not show. The clock of the other device may be ahead. */
function checkSites(
  offered: readonly OfferedSite[],
  has: (kind: BackupFile['kind'], address: string) => boolean,
  now: number,
): Pick<BackupContents, 'refused'> & { sites: OfferedSite[] } {
  const sites: OfferedSite[] = [];
  const refused: BackupContents['refused'] = [];
  const seen = new Set<string>();
  for (const site of offered) {
    const { isPinned, isPrivate, ...visit } = site;
    const lastOpened =
      typeof visit.lastOpened === 'number' ? Math.min(visit.lastOpened, now) : visit.lastOpened;
    try {
      if (seen.has(site.address)) throw new AntwayError('REFUSED', 'It is listed twice.');
      seen.add(site.address);
      if (isPrivate && !has('manifest', site.address))
        throw new AntwayError('NOT_FOUND', 'Its manifest is missing.');
      sites.push({ ...parseVisit({ ...visit, lastOpened }), isPinned, isPrivate });
    } catch (error) {
      refused.push({ what: site.address, reason: (error as Error).message });
    }
  }
  return { sites, refused };
}

/** Leaves out publications that are listed twice, or whose file is missing. Adds the reasons to `refused`. */
function checkPublications(
  offered: readonly OfferedPublication[],
  has: (kind: BackupFile['kind'], address: string) => boolean,
  refused: BackupContents['refused'],
): OfferedPublication[] {
  const seen = new Set<string>();
  return offered.filter(({ id }) => {
    const reason = seen.has(id) ? 'It is listed twice.' : has('publication', id) ? null : 'It is missing.';
    seen.add(id);
    if (reason !== null) refused.push({ what: id, reason });
    return reason === null;
  });
}

/** Reads piece by piece, so that the browser can keep the parts of a large blob on disk. */
async function blobOf(source: RandomAccess, offset: number, size: number): Promise<Blob> {
  const pieces: Blob[] = [];
  for (let at = 0; at < size; at += limits.streamPieceBytes) {
    const end = Math.min(at + limits.streamPieceBytes, size);
    pieces.push(new Blob([(await source.read(offset + at, offset + end)) as Uint8Array<ArrayBuffer>]));
  }
  return new Blob(pieces);
}
