import { useEffect, useMemo, useState } from 'preact/hooks';
import { base64Url } from '../../util/base64-url.ts';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { asGatewayApiError, type GatewayApiError, type GatewayConfig, gateway } from '../gateway-api.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { ProblemText } from '../problem-text.tsx';
import { shareTexts } from '../texts/share.ts';
import { type Shared, type ShareLink, shareLinksOf } from './share-links.ts';
import './share.css';

const QrCode = lazyComponent(() => import('./qr-code.tsx'));

export interface ShareProps {
  title: string;
  address: string;
  /** As of `Shared`. */
  path: string;
  /**
   * The manifest of private content, or `stored` if the gateway stores the manifest under this address. Null for public
   * content.
   */
  manifest: Uint8Array | 'stored' | null;
  /** Whether the user already knows that the link contains the key. */
  isWarned?: boolean;
}

/** The links to content, with one main link that works for others. */
export default function Share({ title, address, path, manifest, isWarned = false }: ShareProps) {
  const t = shareTexts();
  const [config, setConfig] = useState<GatewayConfig | null>(null);
  const [hasAgreed, setAgreed] = useState(isWarned);
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<GatewayApiError | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    // Without the configuration there are still links.
    gateway.config(stop.signal).then(setConfig, () => undefined);
    return () => stop.abort();
  }, []);
  useEffect(() => {
    if (!hasAgreed || manifest === null) return;
    setProblem(null);
    readManifest(address, manifest).then(
      (bytes) => setText(base64Url(bytes)),
      (error) => setProblem(asGatewayApiError(error)),
    );
  }, [hasAgreed, address, manifest]);

  if (manifest !== null && !hasAgreed) {
    return (
      <div class="share-sheet">
        <p class="notice-strong">{t.keyWarning}</p>
        <p class="actions">
          <Button isSmall onClick={() => setAgreed(true)}>
            {t.showPrivateLink}
          </Button>
        </p>
      </div>
    );
  }
  if (problem) {
    return (
      <p class="note note-problem">
        <ProblemText problem={problem} />
      </p>
    );
  }
  if (manifest !== null && text === null) return null;
  return (
    <Links
      title={title}
      shared={{ address, path, manifest: manifest && text }}
      publicGateways={config?.publicGateways ?? []}
      isWarned={isWarned}
    />
  );
}

async function readManifest(address: string, manifest: Uint8Array | 'stored'): Promise<Uint8Array> {
  if (manifest !== 'stored') return manifest;
  return new Uint8Array(await (await gateway.manifest(address)).arrayBuffer());
}

interface LinksProps {
  title: string;
  shared: Shared;
  publicGateways: readonly string[];
  isWarned: boolean;
}

function Links({ title, shared, publicGateways, isWarned }: LinksProps) {
  const t = shareTexts();
  const { address, path, manifest } = shared;
  const { main, isLocal, others } = useMemo(
    () => shareLinksOf(shared, location.origin, publicGateways),
    [address, path, manifest, publicGateways],
  );
  const [failed, setFailed] = useState(false);
  const canShare = typeof navigator.share === 'function' && main.kind !== 'ant';
  const labelOf = ({ kind, text }: ShareLink) => {
    if (kind === 'public') return t.linkAt(new URL(text).host);
    return (manifest === null ? t.labels : { ...t.labels, ...t.privateLabels })[kind];
  };

  async function share() {
    setFailed(false);
    try {
      await navigator.share({ title, url: main.text });
    } catch (error) {
      // The user closed the sheet.
      if ((error as Error).name !== 'AbortError') setFailed(true);
    }
  }

  return (
    <div class="share-sheet result">
      <div class="result-links">
        {manifest !== null && !isWarned && <p class="notice-strong">{t.keyWarning}</p>}
        {isLocal && (
          <p class="notice-strong">
            {t.onlyHere(location.host)} {main.kind === 'ant' ? t.antInstead : t.publicInstead}
          </p>
        )}
        <div>
          <Line label={labelOf(main)} text={main.text} isMain />
        </div>
        {canShare && (
          <p class="actions">
            <Button isSmall onClick={share}>
              {t.share}
            </Button>
            {failed && (
              <span class="note note-problem" role="alert">
                {t.notShared}
              </span>
            )}
          </p>
        )}
        <details class="share-more">
          <summary>{t.more}</summary>
          <div class="result-links">
            {others.map((link) => (
              <div key={link.text}>
                <Line label={labelOf(link)} text={link.text} />
                {link.kind === 'embed' && <p class="note">{t.embedNote}</p>}
              </div>
            ))}
          </div>
        </details>
      </div>
      <div class="qr-place">
        <QrCode link={main.text} />
      </div>
    </div>
  );
}

function Line({ label, text, isMain = false }: { label: string; text: string; isMain?: boolean }) {
  return (
    <dl class={isMain ? 'share-line share-main' : 'share-line'}>
      <dt>{label}</dt>
      <dd>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long link scrolls, and the keyboard has to reach it */}
        <span class="address result-text" tabIndex={0}>
          {text}
        </span>
        <CopyButton text={text} what={label} />
      </dd>
    </dl>
  );
}
