import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { asGatewayApiError, GatewayApiError, gateway } from './gateway-api.ts';
import { clearLists } from './names/stored-lists.ts';
import { siteOriginClient } from './origins/site-origin-client.ts';
import { doneAlone } from './payment/payment-lock.ts';
import { applyLanguage, applyTheme, forgetPreferences } from './preferences.ts';
import { ProblemText } from './problem-text.tsx';
import { texts } from './texts/texts.ts';

interface Props {
  id: string;
  label: string;
  question: string;
  isSmall?: boolean;
  onDeleted: () => void;
}

/**
 * Deletes the keys of lasting addresses, the payments and the lists of names.
 * @returns why that failed. All else is deleted even then.
 */
async function deleteOwned(): Promise<GatewayApiError | null> {
  const results = await Promise.allSettled([
    import('./pointers/owned.ts').then(({ ownedPointers }) => ownedPointers.clear()),
    import('./payment/journal-database.ts').then(({ deleteJournals }) => deleteJournals()),
    clearLists(),
  ]);
  const failed = results.find((result) => result.status === 'rejected');
  return failed ? asGatewayApiError(failed.reason) : null;
}

/** Deletes the addresses of the network's nodes. @returns why that failed. */
async function deleteNodes(): Promise<GatewayApiError | null> {
  try {
    const { forgetNodes } = await import('./nodes/forget-nodes.ts');
    await forgetNodes();
    return null;
  } catch (error) {
    return asGatewayApiError(error);
  }
}

/** Deletes all data of this gateway in this browser, after the user has confirmed it. */
export function DeleteEverything({ id, label, question, isSmall = false, onDeleted }: Props) {
  const [step, setStep] = useState<'rest' | 'asking' | 'working'>('rest');
  const [error, setError] = useState<GatewayApiError | null>(null);
  const start = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const wasAsking = useRef(false);

  // Focus the safest choice. The question replaces the start button and later disappears, so restore the focus as well.
  useEffect(() => {
    if (step === 'asking') cancel.current?.focus();
    else if (step === 'rest' && wasAsking.current) start.current?.focus();
    wasAsking.current = step === 'asking';
  }, [step]);

  async function deleteUnlessPaying() {
    setStep('working');
    setError(null);
    try {
      // The other tab would lose what it knows about its payment.
      if (await doneAlone(deleteAll)) return;
      const { paymentTexts } = await import('./texts/payment.ts');
      setError(new GatewayApiError('BUSY', paymentTexts().busy, { isTranslated: true }));
    } catch (caught) {
      setError(asGatewayApiError(caught));
    }
    setStep('rest');
  }

  async function deleteAll() {
    const ownedProblem = await deleteOwned();
    const uncleared = await siteOriginClient.clearAll();
    await gateway.reset();
    const nodesProblem = await deleteNodes();
    forgetPreferences();
    applyTheme();
    await applyLanguage();
    setStep('rest');
    onDeleted();
    if (ownedProblem) setError(ownedProblem);
    else if (uncleared.length > 0) setError(sitesLeft(uncleared));
    else if (nodesProblem) setError(nodesProblem);
  }

  return (
    <>
      {step === 'rest' ? (
        <Button look="danger" isSmall={isSmall} ref={start} onClick={() => setStep('asking')}>
          {label}
        </Button>
      ) : (
        <div role="alertdialog" aria-labelledby={`${id}-question`} class="question">
          <p id={`${id}-question`}>{question}</p>
          <p class="actions">
            <Button look="quiet" isSmall={isSmall} ref={cancel} onClick={() => setStep('rest')}>
              {texts.common.cancel}
            </Button>
            <Button
              look="danger"
              isSmall={isSmall}
              disabled={step === 'working'}
              onClick={deleteUnlessPaying}
            >
              {texts.settings.resetNow}
            </Button>
          </p>
        </div>
      )}
      {error && (
        <p class="note note-problem" role="alert">
          <ProblemText problem={error} />
        </p>
      )}
    </>
  );
}

function sitesLeft(addresses: readonly string[]): GatewayApiError {
  return new GatewayApiError('SITE_UNREACHABLE', texts.settings.resetLeft(addresses), { isTranslated: true });
}
