import { useState } from 'preact/hooks';
import type { ActivityReport } from '../../gateway/api/activity.ts';
import { Button } from '../button.tsx';
import { formatBytes, formatChunks, formatCount } from '../format.ts';
import { asGatewayApiError, type GatewayApiError } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { locale, texts } from '../texts/texts.ts';

interface Props {
  report: Pick<ActivityReport, 'lifetime' | 'since'> | null;
  /** Sets all statistics of the selected origins to 0. */
  onReset(): Promise<void>;
}

/** Everything that was verified in this browser. It outlives the worker. */
export function Lifetime({ report, onReset }: Props) {
  const [said, setSaid] = useState('');
  const [error, setError] = useState<GatewayApiError | null>(null);
  const t = texts.live;
  const { verifiedBytes = 0, verifiedChunks = 0, badChunks = 0 } = report?.lifetime ?? {};

  async function reset() {
    try {
      await onReset();
      setError(null);
      setSaid(t.resetDone);
    } catch (caught) {
      setError(asGatewayApiError(caught));
    }
  }

  return (
    <section class="card lifetime" aria-label={t.lifetime}>
      <svg class="lifetime-shield" viewBox="0 0 24 24" width="40" height="40" aria-hidden="true">
        <path d="M12 2.8l7.5 2.7v5.7c0 4.6-3 8.2-7.5 10-4.5-1.8-7.5-5.4-7.5-10V5.5z" />
        <path class="lifetime-tick" d="M8.3 12.1l2.6 2.6 4.9-5.2" />
      </svg>
      <p class="lifetime-figures">
        <span class="figure">{t.verified(formatBytes(verifiedBytes))}</span>{' '}
        <span class={badChunks > 0 ? 'figure figure-bad' : 'figure'}>
          {t.badChunks(badChunks, formatCount(badChunks))}
        </span>
      </p>
      <p class="note">
        {report &&
          t.lifetimeNote(
            formatChunks(verifiedChunks),
            new Date(report.since).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' }),
          )}
      </p>
      <Button look="quiet" isSmall disabled={!report} onClick={reset}>
        {t.resetStats}
      </Button>
      <p class={error ? 'note note-problem' : 'visually-hidden'} role="status">
        {error ? <ProblemText problem={error} /> : said}
      </p>
    </section>
  );
}
