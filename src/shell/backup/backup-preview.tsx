import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { shortAddress } from '../../address.ts';
import { replaceDisruptive } from '../../util/sanitize-text.ts';
import { Button } from '../button.tsx';
import { formatBytes, formatCount } from '../format.ts';
import { useSiteIsolation } from '../origins/use-site-isolation.ts';
import { originTexts } from '../texts/origins.ts';
import { locale, texts } from '../texts/texts.ts';
import type { BackupContents, BackupDescription } from './backup-contents.ts';
import { backupSession } from './backup-session.ts';
import { backupTexts } from './backup-texts.ts';
import type { RestoreParts } from './restore-backup.ts';

const mostNamed = 8;

/** The list of the contents of an opened backup. Nothing is applied before the user agrees. */
export function BackupPreview({ contents }: { contents: BackupContents }) {
  const { description, refused, siteBytes } = contents;
  const { sites, publications, pointers, trusted, restricted, createdAt, origin } = description;
  const isolation = useSiteIsolation(pointers.length > 0);
  const [parts, setParts] = useState<RestoreParts>({
    sites: true,
    publications: true,
    settings: true,
    pointers: true,
    trust: false,
  });
  const t = backupTexts();
  const pinned = sites.filter(({ isPinned }) => isPinned).length;
  const isPrivate = sites.filter((site) => site.isPrivate).length;
  const settings = settingsLines(description);
  const count = (list: readonly unknown[]) => formatCount(list.length);
  const part = (name: keyof RestoreParts, label: string, children: ComponentChildren) => (
    <li class="backup-part">
      <label class="check">
        <input
          type="checkbox"
          checked={parts[name]}
          aria-describedby={`backup-part-${name}`}
          onChange={({ currentTarget }) => setParts({ ...parts, [name]: currentTarget.checked })}
        />{' '}
        <b>{label}</b>
      </label>
      <div id={`backup-part-${name}`} class="note">
        {children}
      </div>
    </li>
  );
  return (
    <section class="backup-form" aria-label={t.inside}>
      <h3 tabIndex={-1}>{t.inside}</h3>
      <p class="note">
        {t.from(clean(origin), new Date(createdAt).toLocaleString(locale, { dateStyle: 'long' }))} {t.merge}
      </p>
      <ul class="backup-parts">
        {part(
          'sites',
          t.partSites,
          <>
            <p>
              {t.partSitesNote(
                t.sites(sites.length, count(sites)),
                formatCount(pinned),
                formatCount(isPrivate),
              )}{' '}
              {pinned > 0 && (siteBytes > 0 ? t.contents(formatBytes(siteBytes)) : t.noContents)}
            </p>
            {sites.length > 0 && (
              <p>
                <bdi>{t.first(titlesOf(sites).join(', '), Math.max(0, sites.length - mostNamed))}</bdi>
              </p>
            )}
            {refused.length > 0 && <p>{t.refused(refused.length, count(refused))}</p>}
          </>,
        )}
        {publications.length > 0 &&
          part(
            'publications',
            t.partPublications,
            <p>
              {t.publications(publications.length, count(publications))}{' '}
              <bdi>
                {t.first(titlesOf(publications).join(', '), Math.max(0, publications.length - mostNamed))}
              </bdi>
            </p>,
          )}
        {part(
          'settings',
          t.partSettings,
          settings.length > 0 ? settings.map((line) => <p key={line}>{line}</p>) : <p>{t.settingsNone}</p>,
        )}
        {pointers.length > 0 &&
          part(
            'pointers',
            t.partPointers,
            <>
              <p>
                {t.pointers(pointers.length, count(pointers))}{' '}
                <bdi>{t.first(labelsOf(pointers).join(', '), Math.max(0, pointers.length - mostNamed))}</bdi>
              </p>
              {isolation.value === 'shared' && <p class="notice-strong">{t.pointersShared}</p>}
              {isolation.value === 'unknown' && <p class="notice-strong">{originTexts().unknown}</p>}
            </>,
          )}
        {trusted.length > 0 && part('trust', t.partTrust, <p>{t.trust(trusted.length, count(trusted))}</p>)}
      </ul>
      {restricted.length > 0 && <p class="note">{t.restricted(restricted.length, count(restricted))}</p>}
      <p class="actions">
        <Button onClick={() => void backupSession.restore(contents, parts)}>{t.apply}</Button>
        <Button look="quiet" onClick={() => backupSession.end()}>
          {texts.common.cancel}
        </Button>
      </p>
    </section>
  );
}

function titlesOf(entries: readonly ({ title: string | null } & ({ address: string } | { id: string }))[]) {
  return entries
    .slice(0, mostNamed)
    .map((each) => clean(each.title ?? '') || shortAddress('id' in each ? each.id : each.address));
}

function labelsOf(pointers: BackupDescription['pointers']) {
  return pointers.slice(0, mostNamed).map(({ label, address }) => label || shortAddress(address));
}

function settingsLines({ settings }: BackupDescription): string[] {
  const { peers, names, denied, usePeersOfPeers, lists, nameLists, cache, transport } = settings;
  const t = backupTexts();
  const shown = (record: Record<string, string>) => {
    const first = Object.entries(record).slice(0, mostNamed);
    const named = first.map(([name, address]) => `${clean(name)} (${shortAddress(address)})`).join(', ');
    return t.first(named, Object.keys(record).length - first.length);
  };
  const lines = [
    peers && peers.length > 0 && t.peers(peers.join(', ')),
    usePeersOfPeers && t.peersOfPeers,
    names && Object.keys(names).length > 0 && t.names(shown(names)),
    lists && Object.keys(lists).length > 0 && t.lists(shown(lists)),
    nameLists && Object.keys(nameLists).length > 0 && t.nameLists(shown(nameLists)),
    denied && denied.length > 0 && t.denied(denied.length, formatCount(denied.length)),
    cache?.maxBytes !== undefined && t.storage(formatBytes(cache.maxBytes)),
    cache?.memoryBytes !== undefined && t.memory(formatBytes(cache.memoryBytes)),
    transport && t.transport(transport),
  ];
  return lines.filter((line) => typeof line === 'string');
}

/** Removes characters that turn the direction of the text around or break its line. */
function clean(text: string): string {
  return replaceDisruptive(text, '').slice(0, 80);
}
