import { useEffect, useRef, useState } from 'preact/hooks';
import { asGatewayApiError, GatewayApiError, gateway } from '../gateway-api.ts';
import { ownOrigins } from '../own-origins.ts';
import { applyLanguage, applyTheme, forgetPreferences } from '../preferences.ts';
import { ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';

/** Forgets everything, once the user has read what that means. */
export function ResetSection({ onReset }: { onReset: () => void }) {
  const [step, setStep] = useState<'rest' | 'asking' | 'working'>('rest');
  const [error, setError] = useState<GatewayApiError | null>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const t = texts.settings;

  // What harms least has the focus.
  useEffect(() => {
    if (step === 'asking') cancel.current?.focus();
  }, [step]);

  async function reset() {
    setStep('working');
    try {
      const uncleared = await ownOrigins.clearAll();
      await gateway.reset();
      forgetPreferences();
      applyTheme();
      await applyLanguage();
      onReset();
      if (uncleared.length > 0) setError(sitesLeft(uncleared));
    } catch (caught) {
      setError(asGatewayApiError(caught));
      setStep('rest');
    }
  }

  return (
    <Section id="reset" title={t.reset}>
      <p class="note">{t.resetNote}</p>
      {step === 'rest' ? (
        <p class="actions">
          <button type="button" class="button button-danger" onClick={() => setStep('asking')}>
            {t.resetButton}
          </button>
        </p>
      ) : (
        <div role="alertdialog" aria-labelledby="reset-question" class="question">
          <p id="reset-question">{t.resetConfirm}</p>
          <p class="actions">
            <button
              ref={cancel}
              type="button"
              class="button button-quiet"
              onClick={() => {
                setStep('rest');
                // The button that had the focus goes with the question.
                document.getElementById('reset-heading')?.focus();
              }}
            >
              {texts.common.cancel}
            </button>
            <button type="button" class="button button-danger" disabled={step === 'working'} onClick={reset}>
              {t.resetNow}
            </button>
          </p>
        </div>
      )}
      {error && (
        <p class="note note-problem" role="alert">
          <ProblemText problem={error} />
        </p>
      )}
    </Section>
  );
}

function sitesLeft(addresses: readonly string[]): GatewayApiError {
  return new GatewayApiError('SITE_UNREACHABLE', texts.settings.resetLeft(addresses), { isTranslated: true });
}
