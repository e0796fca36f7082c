import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { formatBytes, formatChunks, formatFiles } from '../format.ts';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { linksOf } from './links.ts';
import type { EncryptedContent } from './messages.ts';
import type { Picked } from './pick.ts';
import type { PublishState } from './publish-session.ts';

interface ResultProps {
  done: Extract<PublishState, { step: 'done' }>;
  onAgain: () => void;
}

export function PublishResult({ done, onAgain }: ResultProps) {
  const { picked, result, isPrivate, isStored } = done;
  const links = linksOf(result, picked, location.origin);
  const t = texts.publish;
  return (
    <Section id="published" title={isPrivate ? t.donePrivate : t.doneTitle}>
      <p class="note">
        {t.doneSummary(
          formatFiles(picked.files.length),
          formatChunks(result.chunks),
          formatBytes(result.uploadedBytes),
        )}
      </p>
      {isPrivate && <p class="notice-strong">{isStored ? t.privateStored : t.privateNote}</p>}
      <ResultLinks encrypted={result} picked={picked} />
      <p class="actions">
        {/* Use a new tab: in this tab, a link that differs only in its fragment would not load the page. */}
        <a class="button" href={links.gateway} target="_blank" rel="noopener">
          {t.openIt}
        </a>
        <Button look="quiet" onClick={onAgain}>
          {t.again}
        </Button>
      </p>
    </Section>
  );
}

/** The links to encrypted content. They work as soon as the chunks are at a peer. */
export function ResultLinks({ encrypted, picked }: { encrypted: EncryptedContent; picked: Picked }) {
  const links = linksOf(encrypted, picked, location.origin);
  const isPrivate = encrypted.manifest !== null;
  const t = texts.publish;
  return (
    <div class="result">
      <dl class="result-links">
        {!isPrivate && <Line label={t.address} text={encrypted.address} />}
        <Line label={isPrivate ? t.privateLink : t.link} text={links.gateway} />
        <Line label={isPrivate ? t.privateAntLink : t.antLink} text={links.ant} />
      </dl>
      <LazyQrCode link={links.gateway} />
    </div>
  );
}

function Line({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span class="address result-text">{text}</span>
        <CopyButton text={text} what={label} />
      </dd>
    </div>
  );
}

function LazyQrCode({ link }: { link: string }) {
  const [Code, setCode] = useState<{ it: ComponentType<{ link: string }> } | null>(null);
  useEffect(() => {
    // Without the QR code, the link still works.
    import('./qr-code.tsx').then(
      (module) => setCode({ it: module.default }),
      (error) => console.warn('antway: the QR code could not be loaded', error),
    );
  }, []);
  return <div class="qr-place">{Code && <Code.it link={link} />}</div>;
}
