import { Button } from '../button.tsx';
import type { ListedSite } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { sizeText } from '../library/size-text.ts';
import Share from '../share/share.tsx';
import { addressOfPath } from '../site-href.ts';
import { texts } from '../texts/texts.ts';
import { viewerTexts } from '../texts/viewer.ts';
import { FileList } from './file-list.tsx';
import type { Panel } from './site-bar.tsx';
import { SiteDetails } from './site-details.tsx';
import type { ShownView } from './use-view.ts';

interface Props {
  panel: Panel;
  title: string;
  /** As of `ShownView`. */
  root: string;
  address: string | null;
  view: ShownView | null;
  site: ListedSite | null;
  /** The path of the current page. */
  path: string;
  mayFullscreen: boolean;
  onFullscreen: () => void;
  onScripts: (runs: boolean) => void;
  onClose: () => void;
}

/** The panel that the bar's buttons open, on top of the frame. */
export function SitePanel({ panel, onClose, ...props }: Props) {
  const { title, root, address, view, site, path } = props;
  const t = viewerTexts();
  const heading = { details: t.details, files: t.filesOf, share: texts.common.share }[panel];
  return (
    <section class="site-panel" aria-label={heading}>
      <div class="site-panel-head">
        <h2>{heading}</h2>
        <Button look="icon" aria-label={t.close} onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      {panel === 'details' && (
        <SiteDetails
          {...props}
          address={address && addressInRoot(root, address)}
          isPrivate={site?.isManifest ?? true}
          size={site && sizeText(site)}
        />
      )}
      {panel === 'files' && address && (
        <FileList root={root} address={address} isOwnOrigin={view?.isOwnOrigin ?? false} key={root} />
      )}
      {/* Only the list of sites tells whether the content is private. */}
      {panel === 'share' && !site && <p class="note">{t.opening}</p>}
      {panel === 'share' && address && site && (
        <Share
          title={title}
          address={address}
          path={path.slice(root.length)}
          manifest={site.isManifest ? 'stored' : null}
        />
      )}
    </section>
  );
}

/** A pointer stays in the URL, and its target is the address of the content. */
function addressInRoot(root: string, address: string): string {
  return addressOfPath({ path: root, address });
}
