import { Button } from '../button.tsx';
import { formatBytes, formatChunks, formatFiles } from '../format.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { openLink, pathOf } from './links.ts';
import type { EncryptedContent } from './messages.ts';
import type { Picked } from './pick.ts';
import type { PublishState } from './publish-session.ts';

const LastingStep = lazyComponent(() => import('../pointers/lasting-step.tsx'));
const Paid = lazyComponent(() => import('../payment/paid.tsx'));

interface ResultProps {
  done: Extract<PublishState, { step: 'done' }>;
  onAgain: () => void;
  /** The user wants a lasting address that leads to the content. */
  onLasting: () => void;
}

export function PublishResult({ done, onAgain, onLasting }: ResultProps) {
  const { picked, result, isPrivate, isStored, unlisted, isUnchanged, network } = done;
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
      {network && <Paid address={result.address} network={network} />}
      {isUnchanged && <p class="note">{t.unchanged}</p>}
      {unlisted && (
        <p class="note note-problem" role="alert">
          {t.unlisted}: <ProblemText problem={unlisted} />
        </p>
      )}
      <ResultLinks encrypted={result} picked={picked} />
      <p class="actions">
        {/* Use a new tab: in this tab, a link that differs only in its fragment would not load the page. */}
        <a class="button" href={openLink(result, picked, location.origin)} target="_blank" rel="noopener">
          {t.openIt}
        </a>
        <Button look="quiet" onClick={onAgain}>
          {t.again}
        </Button>
      </p>
      {!isPrivate && <LastingStep onGo={onLasting} />}
    </Section>
  );
}

const Share = lazyComponent(() => import('../share/share.tsx'));

/** The links to encrypted content. They work as soon as the chunks are at a peer. */
export function ResultLinks({ encrypted, picked }: { encrypted: EncryptedContent; picked: Picked }) {
  const { address, manifest } = encrypted;
  return <Share title={picked.name} address={address} path={pathOf(picked)} manifest={manifest} isWarned />;
}
