import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { formatCount } from '../format.ts';
import SiteNames from '../names/site-names.tsx';
import { nameTexts } from '../texts/names.ts';
import { viewerTexts } from '../texts/viewer.ts';
import type { ShownView } from './use-view.ts';
import { failuresOf, verificationOf } from './verification.ts';

interface Props {
  /** The address in the URL, 64 hex digits. */
  address: string | null;
  title: string;
  /** Whether only this browser has the manifest of the content. */
  isPrivate: boolean;
  view: ShownView | null;
  size: string | null;
  mayFullscreen: boolean;
  onFullscreen: () => void;
  onScripts: (runs: boolean) => void;
}

/** The facts about the shown page, and what the user can change. */
export function SiteDetails({
  address,
  title,
  isPrivate,
  view,
  size,
  mayFullscreen,
  onFullscreen,
  onScripts,
}: Props) {
  const t = viewerTexts();
  return (
    <dl class="site-details">
      <Fact label={t.verification}>{aboutOf(view)}</Fact>
      {view?.page && <Fact label={t.source}>{sourceOf(view.page, view.peersBefore)}</Fact>}
      {view && (
        <Fact label={t.scripts}>
          {view.isOwnOrigin ? t.scriptsOwn : view.hasScripts ? t.scriptsOff : t.scriptsNone}
          {view.isOwnOrigin && (
            <Button look="quiet" isSmall onClick={() => onScripts(false)}>
              {t.forbidScripts}
            </Button>
          )}
          {!view.isOwnOrigin && view.hasScripts && (
            <>
              <Button look="quiet" isSmall onClick={() => onScripts(true)}>
                {t.allowScripts}
              </Button>
              {!view.isWithoutScripts && <span class="note">{t.trustNote}</span>}
            </>
          )}
        </Fact>
      )}
      {size && <Fact label={t.size}>{size}</Fact>}
      {view && (
        <Fact label={t.fullscreen}>
          {mayFullscreen ? t.fullscreenOn : t.fullscreenOff}
          {!mayFullscreen && (
            <Button look="quiet" isSmall onClick={onFullscreen}>
              {t.allowFullscreen}
            </Button>
          )}
        </Fact>
      )}
      {address && (
        <Fact label={t.address}>
          <span class="address">{address}</span>
        </Fact>
      )}
      {address && !isPrivate && (
        <Fact label={nameTexts().yourName}>
          <SiteNames address={address} title={title} />
        </Fact>
      )}
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function aboutOf(view: ShownView | null): string {
  const { about, requests } = viewerTexts();
  const verification = view ? verificationOf(view) : 'opening';
  if (verification !== 'incomplete' && verification !== 'damaged') return about[verification];
  const count = failuresOf(view!.page!);
  return about[verification](requests(count, formatCount(count)));
}

function sourceOf(
  { chunks, peers }: NonNullable<ShownView['page']>,
  peersBefore: ShownView['peersBefore'],
): string {
  const t = viewerTexts();
  if (chunks.peers === 0 && !peersBefore) return t.fromStore;
  const urls = new Set([...(peersBefore ?? []), ...peers]);
  const hosts = Array.from(urls, (url) => (URL.canParse(url) ? new URL(url).host : url));
  const from = hosts.join(', ') || t.fromPeers;
  // The site's origin stores the chunks that the gateway's origin has loaded.
  return chunks.stored > 0 && !peersBefore ? t.fromBoth(from) : from;
}
