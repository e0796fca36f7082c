import { useEffect, useRef, useState } from 'preact/hooks';
import type { Publication } from '../../gateway/state/publications.ts';
import { Button } from '../button.tsx';
import { ContentLink } from '../content-link.tsx';
import { formatBytes, formatFiles } from '../format.ts';
import { gateway } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { hostOf } from '../live/peer-rows.ts';
import { LazySiteNames } from '../names/lazy-site-names.ts';
import { openLink } from '../publish/links.ts';
import { sanitizeLine } from '../sanitize-line.ts';
import { publishedTexts } from '../texts/published.ts';
import { locale, texts } from '../texts/texts.ts';
import { AvailabilityResult, useAvailability } from './availability.tsx';

interface Props {
  publication: Publication;
  /** The publication that this one replaces. `removed` if it is no longer listed. */
  previous: Publication | 'removed' | null;
  newer: Publication | null;
  /** URLs of the gateway's peers, which may have the content too. */
  peers: readonly string[];
  say: (text: string) => void;
  onUpdate: () => void;
  onRemove: () => void;
}

export function titleOfPublication({ title, name }: Pick<Publication, 'title' | 'name'>): string {
  return sanitizeLine(title || name) || publishedTexts().untitled;
}

export function PublishedRow({ publication, previous, newer, peers, say, onUpdate, onRemove }: Props) {
  const { isPrivate, isFolder, files, bytes, publishedAt } = publication;
  const availability = useAvailability(publication, peers);
  const [isRemoving, setRemoving] = useState<boolean | null>(null);
  /** While the question is open: its cancel button. Otherwise: the button that opens it. */
  const focused = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isRemoving !== null) focused.current?.focus();
  }, [isRemoving]);
  const t = publishedTexts();
  const title = titleOfPublication(publication);
  const label = (action: string) => texts.library.actionOn(action, title);
  const kind = isFolder ? 'site' : 'file';

  async function copy() {
    const link = await linkTo(publication);
    if (link === null) return say(t.noLink);
    try {
      await navigator.clipboard.writeText(link);
      say(t.copied(title));
    } catch {
      say(t.notCopied);
    }
  }

  async function share() {
    const url = await linkTo(publication);
    if (url === null) return say(t.noLink);
    // A rejection means that the user closed the share sheet.
    await navigator.share({ title, url }).catch(() => undefined);
  }

  return (
    <li class="published-row">
      <div class="published-head">
        <ContentLink class="site-title" href={pathOf(publication)}>
          <bdi>{title}</bdi>
        </ContentLink>
        <span class="mark">{t.kinds[kind]}</span>
        {isPrivate && <span class="mark">{t.kinds.private}</span>}
      </div>
      <p class="site-facts">
        <time dateTime={new Date(publishedAt).toISOString()}>{dateOf(publication)}</time>
        <span>{formatFiles(files)}</span>
        <span>{formatBytes(bytes)}</span>
        {publication.peers.length > 0 && <span>{t.storedAt(hostsOf(publication.peers))}</span>}
      </p>
      {previous && (
        <p class="note">{previous === 'removed' ? t.newerOfRemoved : t.newerOf(dateOf(previous))}</p>
      )}
      {newer && <p class="note">{t.isReplaced(dateOf(newer))}</p>}
      {!isPrivate && (
        <p class="note address published-address" title={publication.id}>
          {publication.id}
        </p>
      )}
      <AvailabilityResult availability={availability} all={publication.chunks.length / 64} />
      {!isPrivate && !isRemoving && <LazySiteNames address={publication.id} title={title} />}
      {isRemoving ? (
        <div class="question">
          <p>{t.confirmRemove(title)}</p>
          <p class="actions">
            <Button look="quiet" isSmall ref={focused} onClick={() => setRemoving(false)}>
              {texts.common.cancel}
            </Button>
            <Button look="danger" isSmall onClick={onRemove}>
              {t.actions.remove}
            </Button>
          </p>
        </div>
      ) : (
        <p class="actions">
          <Button look="quiet" isSmall aria-label={label(t.actions.copy)} onClick={copy}>
            {t.actions.copy}
          </Button>
          {'share' in navigator && (
            <Button look="quiet" isSmall aria-label={label(t.actions.share)} onClick={share}>
              {t.actions.share}
            </Button>
          )}
          <Button
            look="quiet"
            isSmall
            aria-label={label(availability.isRunning ? t.actions.stop : t.actions.check)}
            onClick={availability.isRunning ? availability.stop : availability.start}
          >
            {availability.isRunning ? t.actions.stop : t.actions.check}
          </Button>
          <Button look="quiet" isSmall aria-label={label(t.actions.update)} onClick={onUpdate}>
            {t.actions.update}
          </Button>
          <Button
            look="icon"
            ref={focused}
            aria-label={label(t.actions.remove)}
            title={t.actions.remove}
            onClick={() => setRemoving(true)}
          >
            <Icon name="close" size={18} />
          </Button>
        </p>
      )}
    </li>
  );
}

function dateOf({ publishedAt }: Publication): string {
  return new Date(publishedAt).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
}

function hostsOf(peers: readonly string[]): string {
  return peers.map(hostOf).join(', ');
}

/** A path of this gateway. The manifest of private content is stored here, so its id opens it. */
function pathOf({ id, isPrivate, isFolder, name }: Publication): string {
  if (isFolder) return `/${id}/`;
  if (isPrivate) return `/${id}`;
  return openLink({ address: id, manifest: null }, { name, isFolder }, '');
}

/** The link for others. Null if it needs a manifest that is no longer stored. */
async function linkTo({ id, isPrivate, name, isFolder }: Publication): Promise<string | null> {
  try {
    const manifest = isPrivate ? new Uint8Array(await (await gateway.manifest(id)).arrayBuffer()) : null;
    return openLink({ address: id, manifest }, { name, isFolder }, location.origin);
  } catch (error) {
    console.warn('antway: the manifest could not be read', error);
    return null;
  }
}
