import { BackupContent } from '../../library/backup/backup-records.ts';
import type { Settings } from '../../server-config.ts';
import { TakeOver, type TakeOverProblem } from '../../site-pages/take-over.ts';
import { asGatewayApiError, gateway } from '../gateway-api.ts';
import { publicationsHere } from '../move/library-here.ts';
import { chooseTheme, chosenTheme, tellAppearance } from '../preferences.ts';
import { type BackupContents, readContents } from './backup-contents.ts';
import { restorePointers } from './backup-pointers.ts';

/** The parts that the user has selected. */
export interface RestoreParts {
  /** Visits, pins and private sites. */
  sites: boolean;
  /** The list of the user's publications. */
  publications: boolean;
  /** Settings, names, peers, blocked addresses and the theme. */
  settings: boolean;
  /** The user's pointers with their keys. */
  pointers: boolean;
  /** Which sites may run scripts. */
  trust: boolean;
}

export interface RestoreReport {
  /** The number of entries that the library did not have before. */
  sites: number;
  pins: number;
  names: number;
  denied: number;
  trusted: number;
  publications: number;
  pointers: number;
  hasNewPeers: boolean;
  problems: TakeOverProblem[];
}

/**
 * Opens a backup, and verifies all of it before anything is applied.
 * @param onProgress the share of the file that is verified, 0 to 1.
 * @throws AntwayError with a `fault`, or for contents that Antway does not make.
 */
export async function openBackup(
  file: Blob,
  passphrase: string,
  onProgress: (share: number) => void,
): Promise<BackupContents> {
  const content = await BackupContent.open(file, passphrase);
  await content.verify(onProgress);
  return readContents(content, location.origin);
}

/** Adds the contents of a backup to this library. Entries that are here already do not change. */
export async function restoreBackup(
  { description, get, has, refused }: BackupContents,
  parts: RestoreParts,
  onProgress: (done: number, count: number) => void,
): Promise<RestoreReport> {
  const before = await stateHere();
  const offer = {
    ...description,
    sites: parts.sites ? description.sites : [],
    settings: parts.settings ? description.settings : {},
    publications: parts.publications ? description.publications : [],
  };
  const takeOver = new TakeOver(offer, { get, has });
  const { problems, left: names } = await takeOver.run(onProgress);
  problems.push(...names.map(({ name, reason }) => ({ what: name, code: 'REFUSED', message: reason })));
  const trusted = parts.trust ? await restoreTrust(description.trusted, before.decided, problems) : 0;
  const pointers = parts.pointers ? await restorePointers(description.pointers, problems) : 0;
  if (parts.settings) await restoreAppearance(description);
  const after = await stateHere();
  const left = parts.sites ? refused : [];
  return {
    sites: countNew(after.sites, before.sites),
    pins: countNew(after.pins, before.pins),
    names: countNew(keysOf(after.settings.names), keysOf(before.settings.names)),
    denied: countNew(new Set(after.settings.denied), new Set(before.settings.denied)),
    publications: countNew(after.publications, before.publications),
    ...{ trusted, pointers, hasNewPeers: Boolean(after.settings.peers && !before.settings.peers) },
    problems: [...problems, ...left.map(({ what, reason }) => ({ what, code: 'REFUSED', message: reason }))],
  };
}

interface StateHere {
  sites: ReadonlySet<string>;
  pins: ReadonlySet<string>;
  decided: ReadonlySet<string>;
  publications: ReadonlySet<string>;
  settings: Settings;
}

async function stateHere(): Promise<StateHere> {
  const { signal } = new AbortController();
  const [sites, decisions, settings, published] = await Promise.all([
    gateway.storedSites(signal),
    gateway.trust(signal),
    gateway.settings(signal),
    publicationsHere(),
  ]);
  return {
    sites: new Set(sites.map(({ address }) => address)),
    pins: new Set(sites.filter(({ pin }) => pin).map(({ address }) => address)),
    decided: new Set(decisions.map(({ address }) => address)),
    publications: new Set(published.map(({ id }) => id)),
    settings,
  };
}

const keysOf = (record: object | undefined) => new Set(Object.keys(record ?? {}));

function countNew(after: ReadonlySet<string>, before: ReadonlySet<string>): number {
  return [...after].filter((each) => !before.has(each)).length;
}

/** Decisions that the user has made here stay. @returns the number of restored decisions. */
async function restoreTrust(
  trusted: BackupContents['description']['trusted'],
  decided: ReadonlySet<string>,
  problems: TakeOverProblem[],
): Promise<number> {
  let restored = 0;
  for (const { address, content } of trusted) {
    if (decided.has(address)) continue;
    try {
      await gateway.trustContent(address, content);
      restored++;
    } catch (error) {
      const { code, message } = asGatewayApiError(error);
      problems.push({ what: address, code, message });
    }
  }
  return restored;
}

/** A choice that the user has made here stays. */
async function restoreAppearance({ theme }: BackupContents['description']): Promise<void> {
  if (theme && !chosenTheme()) {
    chooseTheme(theme);
    await tellAppearance();
  }
}
