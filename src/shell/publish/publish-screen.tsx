import { useEffect, useRef, useState } from 'preact/hooks';
import type { Publication } from '../../gateway/state/publications.ts';
import { Button } from '../button.tsx';
import { formatBytes, formatChunks, formatCount, formatFiles } from '../format.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { lazyComponent } from '../lazy-component.tsx';
import { ProblemText } from '../problem-text.tsx';
import { PublishedSection } from '../published/published-section.tsx';
import { ScreenHeading } from '../screen-heading.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { useDrop } from '../use-drop.ts';
import { type Picked, pickedFromDrop, pickedFromHandle, pickedFromList } from './pick.ts';
import {
  isSave,
  type Measure,
  type PublishState,
  publishSession,
  usePublishState,
} from './publish-session.ts';
import { PublishTargets } from './publish-targets.tsx';
import { PublishResult } from './result.tsx';

const PriceSection = lazyComponent(() => import('../payment/price-section.tsx'));
const UnfinishedUploads = lazyComponent(() => import('../payment/unfinished.tsx'));
const PointersSection = lazyComponent(() => import('../pointers/pointers-section.tsx'));

export function PublishScreen({ config }: { config: GatewayConfig | null }) {
  const state = usePublishState();
  const [wanted, setWanted] = useState<{ go: () => void } | null>(null);
  /** The last publication, for which the user wants a lasting address. A new object for each click. */
  const [lasting, setLasting] = useState<{ address: string; isPaid: boolean } | null>(null);
  /** How often lasting addresses changed. Each change may begin or finish a payment. */
  const [changes, setChanges] = useState(0);
  const ifSure = (go: () => void) => {
    if (publishSession.isUnsafeToLeave) setWanted({ go });
    else go();
  };
  const restart = () => ifSure(() => publishSession.restart(publishSession.replaces));
  const isOver = useDrop(['Files'], (data) => {
    if (publishSession.isWorking) return;
    const picking = pickedFromDrop(data);
    // `choose` reports the error. It may never be called, and then the rejection must not be unhandled.
    picking.catch(() => {});
    ifSure(() => publishSession.choose(picking));
  });
  useEffect(() => setWanted(null), [state.step]);
  useFocusOnStep(state);
  return (
    <>
      <ScreenHeading title={texts.publish.title} intro={texts.publish.intro} />
      <div class="stack">
        {wanted && !publishSession.isWorking && (
          <LosingLink
            onCancel={() => {
              setWanted(null);
              document.getElementById(headingOf(state))?.focus();
            }}
            onSure={() => {
              setWanted(null);
              wanted.go();
            }}
          />
        )}
        {state.step !== 'done' && publishSession.replaces && (
          <Updating publication={publishSession.replaces} isFixed={publishSession.isWorking} />
        )}
        {(state.step === 'choose' || state.step === 'reading') && (
          <>
            <UnfinishedUploads key={changes} />
            <Choice state={state} />
          </>
        )}
        {(state.step === 'ready' || state.step === 'stopped') && (
          <>
            <Chosen picked={state.picked} measure={state.measure} onChange={restart} />
            <PublishTargets state={state} config={config} />
          </>
        )}
        {state.step === 'priced' && (
          <>
            <Chosen
              picked={state.picked}
              measure={state.measure}
              onChange={state.isPaying ? null : restart}
            />
            <PriceSection state={state} />
          </>
        )}
        {state.step === 'working' && <Work state={state} />}
        {state.step === 'done' && (
          <PublishResult
            done={state}
            onAgain={restart}
            onLasting={() => setLasting({ address: state.result.address, isPaid: state.network !== null })}
          />
        )}
        <PublishedSection config={config} />
        <PointersSection
          config={config}
          wanted={lasting}
          onChanged={() => setChanges((count) => count + 1)}
        />
      </div>
      {isOver && !publishSession.isWorking && (
        <div class="drop-state" aria-hidden="true">
          <span>{texts.publish.dropNow}</span>
        </div>
      )}
    </>
  );
}

/** Says which publication the next one replaces. @param isFixed whether it is too late to change that. */
function Updating({ publication, isFixed }: { publication: Publication; isFixed: boolean }) {
  const t = texts.publish;
  return (
    <p class="notice-strong updating">
      {t.updating(publication.title || publication.name || t.pickTitle)}{' '}
      {!isFixed && (
        <Button look="link" onClick={() => publishSession.stopReplacing()}>
          {t.notUpdating}
        </Button>
      )}
    </p>
  );
}

/** Asks before the only link to private content is lost. */
function LosingLink({ onCancel, onSure }: { onCancel: () => void; onSure: () => void }) {
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    cancel.current?.focus();
    cancel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const t = texts.publish;
  return (
    <Section id="losing" title={t.losingTitle}>
      <p>{t.losing}</p>
      <p class="actions">
        <Button look="quiet" ref={cancel} onClick={onCancel}>
          {texts.common.cancel}
        </Button>
        <Button look="danger" onClick={onSure}>
          {t.change}
        </Button>
      </p>
    </Section>
  );
}

const headings: Record<PublishState['step'], string> = {
  choose: 'pick-heading',
  reading: 'pick-heading',
  ready: 'pick-heading',
  priced: 'price-heading',
  working: 'work-heading',
  stopped: 'targets-heading',
  done: 'published-heading',
};

function headingOf(state: PublishState): string {
  const isSaving =
    (state.step === 'ready' && state.saved) || (state.step === 'stopped' && isSave(state.task));
  return isSaving ? 'save-heading' : headings[state.step];
}

/** Moves the focus to the new step's heading if the focused button disappeared with the previous step. */
function useFocusOnStep(state: PublishState): void {
  const { step } = state;
  const last = useRef(step);
  useEffect(() => {
    if (last.current === step) return;
    last.current = step;
    const isLost = !document.activeElement || document.activeElement === document.body;
    if (isLost) document.getElementById(headingOf(state))?.focus({ preventScroll: true });
  }, [step]);
}

type FolderPickingWindow = Window & { showDirectoryPicker?: () => Promise<FileSystemDirectoryHandle> };

function Choice({ state }: { state: Extract<PublishState, { step: 'choose' | 'reading' }> }) {
  const folderInput = useRef<HTMLInputElement>(null);
  const filesInput = useRef<HTMLInputElement>(null);

  async function chooseFolder() {
    const { showDirectoryPicker } = window as FolderPickingWindow;
    if (!showDirectoryPicker) {
      folderInput.current?.click();
      return;
    }
    try {
      const folder = await showDirectoryPicker.call(window);
      publishSession.choose(pickedFromHandle(folder));
    } catch (error) {
      // The user closed the picker, which is not an error.
      if (!(error instanceof DOMException && error.name === 'AbortError')) {
        publishSession.choose(Promise.reject(error));
      }
    }
  }

  function take({ currentTarget }: { currentTarget: HTMLInputElement }) {
    const files = [...(currentTarget.files ?? [])];
    // Reset the value: otherwise, choosing the same files again causes no change event.
    currentTarget.value = '';
    if (files.length > 0) publishSession.choose(Promise.resolve(pickedFromList(files)));
  }

  return (
    <Section id="pick" title={texts.publish.pickTitle}>
      <div class="drop-place">
        <Icon name="folder" size={40} />
        <p>{state.step === 'reading' ? texts.publish.reading : texts.publish.dropHere}</p>
        <p class="actions">
          <Button onClick={chooseFolder}>{texts.publish.chooseFolder}</Button>
          <Button look="quiet" onClick={() => filesInput.current?.click()}>
            {texts.publish.chooseFiles}
          </Button>
        </p>
        <input
          ref={folderInput}
          type="file"
          name="folder"
          hidden
          onChange={take}
          {...{ webkitdirectory: true }}
        />
        <input ref={filesInput} type="file" name="files" multiple hidden onChange={take} />
      </div>
      {state.step === 'choose' && state.error && (
        <p class="note note-problem" role="alert">
          <ProblemText problem={state.error} />
        </p>
      )}
    </Section>
  );
}

const shownPaths = 20;

interface ChosenProps {
  picked: Picked;
  measure: Measure | null;
  /** Null while it is too late. */
  onChange: (() => void) | null;
}

function Chosen({ picked, measure, onChange }: ChosenProps) {
  const { name, files, isFolder, leftOut, bytes } = picked;
  const t = texts.publish;
  const hasIndex = files.some(({ path }) => path === 'index.html');
  return (
    <Section id="pick" title={name || t.pickTitle}>
      <p>{t.chosen(formatFiles(files.length), formatBytes(bytes))}</p>
      <p class="note">
        {measure ? t.becomes(formatChunks(measure.chunks), formatBytes(measure.bytes)) : t.measuring}
      </p>
      {isFolder && !hasIndex && <p class="note">{t.noIndex}</p>}
      {leftOut.length > 0 && (
        <details class="left-out">
          <summary>{t.leftOut(leftOut.length, formatCount(leftOut.length))}</summary>
          <ul>
            {leftOut.slice(0, shownPaths).map(({ path, why }) => (
              <li key={path}>
                <span class="address">{path}</span>: {why === 'git' ? t.leftOutGit : t.leftOutSystem}
              </li>
            ))}
          </ul>
        </details>
      )}
      {onChange && (
        <p class="actions">
          <Button look="quiet" isSmall onClick={onChange}>
            {t.change}
          </Button>
        </p>
      )}
    </Section>
  );
}

function Work({
  state: { task, places, progress, asked, signing, picked },
}: {
  state: Extract<PublishState, { step: 'working' }>;
}) {
  const t = texts.publish;
  // Hashing is the first of two passes over the bytes, and the faster one.
  const done = progress ? progress.hashedBytes * 0.2 + progress.encryptedBytes * 0.8 : 0;
  const size = progress?.size ?? picked.bytes;
  const isHashing = !progress || progress.encryptedBytes === 0;
  const isFinishing = progress !== null && progress.encryptedBytes === progress.size;
  const phase = isHashing ? t.phases.hashing : isFinishing ? t.phases.finishing : t.phases.encrypting;
  const asking = asked?.what === 'pools' ? t.poolPricing : t.pricing;
  const pricing = asked ? asking(formatCount(asked.asked), formatCount(asked.all)) : t.phases.hashing;
  const bytes = isHashing ? (progress?.hashedBytes ?? 0) : progress.encryptedBytes;
  const status = task === 'tar' ? t.saving : task === 'price' ? pricing : phase;
  const signed = signing && !progress && !asked ? signing : null;
  return (
    <Section id="work" title={picked.name || t.pickTitle}>
      <p class="work-line">
        <span role="status">{signed ? t.phases.signing : status}</span>
        <span class="label">
          {signed
            ? t.progress(formatCount(signed.signed), formatCount(signed.all))
            : t.progress(formatBytes(bytes), formatBytes(size))}
        </span>
      </p>
      <progress
        aria-label={t.title}
        value={signed ? signed.signed : done}
        max={signed ? signed.all : Math.max(size, 1)}
      />
      {progress && task === 'publish' && (
        <p class="note">
          {t.chunkProgress(formatChunks(progress.chunks), formatCount(progress.presentChunks), places > 1)}
        </p>
      )}
      {progress && progress.failedChunks > 0 && (
        <p class="note" role="status">
          {t.chunksFailed(formatChunks(progress.failedChunks))}
        </p>
      )}
      <p class="actions">
        <Button look="quiet" onClick={() => publishSession.cancel()}>
          {t.cancel}
        </Button>
      </p>
    </Section>
  );
}
