import { useEffect, useRef, useState } from 'preact/hooks';
import '../styles/backup.css';
import { faultOf } from '../../library/backup/backup-problem.ts';
import { Button } from '../button.tsx';
import { formatBytes, formatCount } from '../format.ts';
import { asGatewayApiError, GatewayApiError } from '../gateway-api.ts';
import { useObserved } from '../observable.ts';
import { ProblemText } from '../problem-text.tsx';
import { ScreenLink } from '../screen-link.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import { addedText } from './added-text.ts';
import { BackupPreview } from './backup-preview.tsx';
import { type BackupState, backupSession } from './backup-session.ts';
import { backupTexts } from './backup-texts.ts';
import { CreateForm } from './create-form.tsx';
import { RestoreForm } from './restore-form.tsx';

/** Makes and restores backups. */
export default function BackupPanel() {
  const state = useObserved(backupSession, () => backupSession.state);
  const [form, setForm] = useState<'create' | 'restore' | null>(null);
  const body = useRef<HTMLDivElement>(null);
  const t = backupTexts();
  const { step } = state;
  const shown = step === 'rest' ? (form ?? 'rest') : step;

  // Each step replaces the focused button of the step before.
  const last = useRef(shown);
  useEffect(() => {
    if (last.current === shown) return;
    last.current = shown;
    const target = body.current?.querySelector<HTMLElement>('h3, input, [role="status"], button');
    target?.focus();
  }, [shown]);

  return (
    <Section id="backup" title={t.title}>
      <p class="note">{t.intro}</p>
      <div ref={body}>
        {step === 'rest' && <Failure state={state} />}
        {shown === 'rest' && (
          <p class="actions">
            <Button look="quiet" onClick={() => setForm('create')}>
              {t.create}
            </Button>
            <Button look="quiet" onClick={() => setForm('restore')}>
              {t.restore}
            </Button>
          </p>
        )}
        {shown === 'create' && <CreateForm onCancel={() => close()} />}
        {shown === 'restore' && <RestoreForm onCancel={() => close()} />}
        {step === 'creating' && <Working label={t.creating} done={state.done} count={state.count} canStop />}
        {step === 'opening' && <Working label={t.opening} done={state.share} count={1} canStop />}
        {step === 'restoring' && <Working label={t.restoring} done={state.done} count={state.count} />}
        {step === 'opened' && <BackupPreview contents={state.contents} />}
        {step === 'created' && <Created state={state} onDone={() => close()} />}
        {step === 'restored' && <Restored state={state} onDone={() => close()} />}
      </div>
    </Section>
  );

  function close() {
    setForm(null);
    backupSession.end();
  }
}

function Failure({ state }: { state: Extract<BackupState, { step: 'rest' }> }) {
  const t = backupTexts();
  return (
    <p class="note note-problem" role="alert">
      {state.failed && (
        <>
          {t.failed[state.failed]} <ProblemText problem={problemOf(state.error)} />
        </>
      )}
    </p>
  );
}

function problemOf(error: unknown): GatewayApiError {
  const fault = faultOf(error);
  const problem = asGatewayApiError(error);
  return fault
    ? new GatewayApiError(problem.code, backupTexts().faults[fault], { isTranslated: true })
    : problem;
}

interface WorkingProps {
  label: string;
  done: number;
  count: number;
  canStop?: boolean;
}

function Working({ label, done, count, canStop = false }: WorkingProps) {
  const t = backupTexts();
  return (
    <div class="backup-form">
      <p role="status" tabIndex={-1}>
        {label}…
      </p>
      <progress aria-label={label} value={done} max={Math.max(count, 1)} />
      {count > 1 && (
        <p class="note">{t.numberOf(formatCount(Math.min(done + 1, count)), formatCount(count))}</p>
      )}
      {canStop && (
        <p class="actions">
          <Button look="quiet" onClick={() => backupSession.end()}>
            {texts.common.cancel}
          </Button>
        </p>
      )}
    </div>
  );
}

interface EndProps<Step extends BackupState['step']> {
  state: Extract<BackupState, { step: Step }>;
  onDone: () => void;
}

function Created({ state: { backup }, onDone }: EndProps<'created'>) {
  const t = backupTexts();
  const { sites, bytes, name, without, bound } = backup;
  return (
    <div class="backup-form">
      <p role="status" tabIndex={-1} class="notice-strong">
        {t.created(t.sites(sites, formatCount(sites)), formatBytes(bytes))} <span class="code">{name}</span>
      </p>
      {without.length > 0 && <p class="note">{t.without(without.length, formatCount(without.length))}</p>}
      {bound > 0 && <p class="note">{t.bound(bound, formatCount(bound))}</p>}
      <p class="actions">
        <Button look="quiet" onClick={onDone}>
          {t.done}
        </Button>
      </p>
    </div>
  );
}

function Restored({ state: { report }, onDone }: EndProps<'restored'>) {
  const t = backupTexts();
  const { sites, pins, names, denied, trusted, publications, pointers, hasNewPeers, problems } = report;
  const isNothing = sites + publications + pointers + pins + names + denied + trusted === 0 && !hasNewPeers;
  return (
    <div class="backup-form">
      <p role="status" tabIndex={-1} class="notice-strong">
        {t.restored} {isNothing ? t.nothingAdded : addedText(t, report)}{' '}
        {publications > 0 && t.addedPublications(t.publications(publications, formatCount(publications)))}{' '}
        {pointers > 0 && t.addedPointers(t.pointers(pointers, formatCount(pointers)))}{' '}
        {hasNewPeers && t.addedPeers}
      </p>
      {problems.length > 0 && (
        <>
          <p class="note note-problem">{t.problems}</p>
          <ul class="backup-problems">
            {problems.map(({ what, code, message }, i) => (
              <li key={`${i} ${what}`}>
                <bdi>{(what ?? t.partSettings).slice(0, 80)}</bdi>: <span lang="en">{message}</span>{' '}
                <span class="code">{code}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="actions">
        <ScreenLink to="library" class="button button-quiet">
          {t.library}
        </ScreenLink>
        <Button look="quiet" onClick={onDone}>
          {t.done}
        </Button>
      </p>
    </div>
  );
}
