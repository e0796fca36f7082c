import { useEffect, useRef, useState } from 'preact/hooks';
import type { PinState } from '../../library/pin-state.ts';
import { written } from '../../names/name-book.ts';
import { Button } from '../button.tsx';
import { ContentLink } from '../content-link.tsx';
import { formatAge, formatBytes, formatShare, formatSpan } from '../format.ts';
import type { ListedSite, PinAction } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { lazyComponent } from '../lazy-component.tsx';
import { LazySiteNames } from '../names/lazy-site-names.ts';
import { useNames } from '../names/names-store.ts';
import { SiteIcon } from '../open/site-icon.tsx';
import { sitePage } from '../origins/site-bridge.ts';
import { siteOriginClient } from '../origins/site-origin-client.ts';
import { AskToKeep, isUnpersisted } from '../persistence.tsx';
import { ProblemText } from '../problem-text.tsx';
import { ReaderLink } from '../readers/reader-link.tsx';
import { addressOfPath, hrefOfSite } from '../site-href.ts';
import { titleOf } from '../site-title.ts';
import { texts } from '../texts/texts.ts';
import { shareOf } from './arrange.ts';
import { FileIcon, fileKindOf } from './file-icon.tsx';
import { sizeText } from './size-text.ts';

const Share = lazyComponent(() => import('../share/share.tsx'));

export type SiteAction = PinAction | 'unpin' | 'scripts' | 'export' | 'delete';

interface Props {
  site: ListedSite;
  /** Where the user can report the site to the host. */
  reportUrl: string | null;
  onAction: (action: SiteAction, site: ListedSite) => void;
  /** Called after the shell has asked the browser for persistent storage of the site's origin. */
  onPersist: () => void;
}

export function SiteRow({ site, reportUrl, onAction, onPersist }: Props) {
  const [isOpen, setOpen] = useState(false);
  const t = texts.library;
  const title = titleOf(site);
  const share = shareOf(site);
  const act = (action: SiteAction) => onAction(action, site);
  const pinAction = site.pin ? 'unpin' : 'pin';
  return (
    <li class="site-row">
      {site.kind === 'archive' ? <SiteIcon title={title} icon={site.icon} /> : <FileIcon site={site} />}
      <div class="site-main">
        <ContentLink class="site-title" href={hrefOfSite(site)}>
          <bdi>{title}</bdi>
        </ContentLink>
        <p class="site-facts">
          <OwnNames address={addressOfPath(site)} />
          <span>{sizeText(site)}</span>
          {site.kind !== 'archive' && <span>{t.fileKinds[fileKindOf(site)]}</span>}
          {site.isManifest && <span>{t.manifest}</span>}
          {site.isWithoutScripts && <span>{t.withoutScripts}</span>}
          {site.lastOpened !== null && (
            <time dateTime={new Date(site.lastOpened).toISOString()}>
              {formatAge(site.lastOpened, Date.now())}
            </time>
          )}
          {site.pin && <PinFacts pin={site.pin} />}
        </p>
        {share !== null && share < 1 && (
          <progress aria-label={t.partly(formatShare(share))} value={share} max={1} />
        )}
        {isUnpersisted(site) && (
          <p class="note note-problem">
            {t.mayClear}{' '}
            <AskToKeep
              label={t.actionOn(texts.live.askPersist, title)}
              ask={() => siteOriginClient.persist(site.address)}
              page={sitePage(site.address)}
              onChange={onPersist}
            />
          </p>
        )}
      </div>
      <p class="site-marks">
        {site.offline ? (
          <span class="mark mark-good">
            <Icon name="offline" size={14} />
            {t.offline}
          </span>
        ) : (
          share !== null && <span class="mark">{t.partly(formatShare(share))}</span>
        )}
      </p>
      <div class="site-actions">
        <Button
          look="quiet"
          isSmall
          aria-label={t.actionOn(t.actions[pinAction], title)}
          onClick={() => act(pinAction)}
        >
          {t.actions[pinAction]}
        </Button>
        <Button
          look="icon"
          aria-label={t.more(title)}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="more" />
        </Button>
      </div>
      {isOpen && <MoreActions site={site} title={title} reportUrl={reportUrl} onAction={act} />}
    </li>
  );
}

/** The user's names for the site. */
function OwnNames({ address }: { address: string }) {
  const meanings = useNames().book.namesOf(address);
  const own = meanings.filter(({ source }) => source.kind === 'own');
  return own.map((meaning) => <bdi key={meaning.name}>{written(meaning)}</bdi>);
}

function PinFacts({ pin }: { pin: PinState }) {
  const t = texts.library;
  const text = pinText(pin);
  return (
    <>
      <span class={`pin-fact ${pin.state === 'damaged' || pin.problem ? 'pin-bad' : ''}`}>{text}</span>
      {pin.activity === 'fetching' && pin.bytesPerSecond !== null && (
        <span>{formatBytes(pin.bytesPerSecond)}/s</span>
      )}
      {pin.activity === 'fetching' && pin.secondsLeft !== null && (
        <span>{t.secondsLeft(formatSpan(pin.secondsLeft))}</span>
      )}
      {pin.problem && (
        <span class="pin-bad">
          <ProblemText problem={pin.problem} />
        </span>
      )}
    </>
  );
}

function pinText(pin: PinState): string {
  const t = texts.library;
  switch (pin.activity) {
    case 'fetching':
      return t.pinStates.fetching(formatShare(shareOf(pin) ?? 0));
    case 'verifying':
      return t.pinStates.verifying;
    case 'paused':
      return t.pinStates.paused;
    case 'waiting':
      return t.pinStates.waiting;
    case 'idle':
      return pin.state === 'complete' ? t.pinned : t.pinStates[pin.state];
  }
}

interface MoreProps {
  site: ListedSite;
  title: string;
  reportUrl: string | null;
  onAction: (action: SiteAction) => void;
}

function MoreActions({ site, title, reportUrl, onAction }: MoreProps) {
  const { pin, isManifest, hasOwnOrigin, isWithoutScripts } = site;
  const [isSharing, setSharing] = useState(false);
  const [isDeleting, setDeleting] = useState<boolean | null>(null);
  /** While the question is open: its cancel button. Otherwise: the delete button. */
  const focused = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isDeleting !== null) focused.current?.focus();
  }, [isDeleting]);
  const t = texts.library;
  const actions: Exclude<SiteAction, 'scripts'>[] = pin
    ? [pin.activity === 'paused' ? 'resume' : 'pause', 'verify', 'export']
    : ['export'];
  if (pin?.state === 'complete') actions.splice(0, 1);
  return (
    <div class="site-more">
      {isDeleting ? (
        <>
          <p>{isManifest ? t.confirmDeleteManifest(title) : t.confirmDelete(title)}</p>
          <p class="actions">
            <Button look="quiet" isSmall ref={focused} onClick={() => setDeleting(false)}>
              {texts.common.cancel}
            </Button>
            <Button look="danger" isSmall onClick={() => onAction('delete')}>
              {t.actions.delete}
            </Button>
          </p>
        </>
      ) : (
        <p class="actions">
          <ReaderLink site={site} class="button button-quiet button-small" />
          {actions.map((action) => (
            <Button
              look="quiet"
              isSmall
              key={action}
              aria-label={t.actionOn(t.actions[action], title)}
              onClick={() => onAction(action)}
            >
              {t.actions[action]}
            </Button>
          ))}
          <Button
            look="quiet"
            isSmall
            aria-expanded={isSharing}
            aria-label={t.actionOn(texts.common.share, title)}
            onClick={() => setSharing(!isSharing)}
          >
            {texts.common.share}
          </Button>
          {(hasOwnOrigin || isWithoutScripts) && (
            <Button
              look="quiet"
              isSmall
              aria-label={t.actionOn(isWithoutScripts ? t.allowScripts : t.forbidScripts, title)}
              onClick={() => onAction('scripts')}
            >
              {isWithoutScripts ? t.allowScripts : t.forbidScripts}
            </Button>
          )}
          <Button
            look="danger"
            isSmall
            ref={focused}
            aria-label={t.actionOn(t.actions.delete, title)}
            onClick={() => setDeleting(true)}
          >
            {t.actions.delete}
          </Button>
          {reportUrl && (
            <a
              class="button button-quiet button-small"
              href={reportUrl}
              target="_blank"
              rel="noopener noreferrer"
              aria-label={t.actionOn(t.report, title)}
            >
              {t.report}
            </a>
          )}
        </p>
      )}
      {/* Names are not encrypted on the disk, so private content gets none. */}
      {!isManifest && !isDeleting && <LazySiteNames address={addressOfPath(site)} title={title} />}
      {isSharing && !isDeleting && (
        <Share
          title={title}
          address={site.address}
          path={site.path.replace(/^\/[^/]*/, '')}
          manifest={isManifest ? 'stored' : null}
        />
      )}
    </div>
  );
}
