import type { ComponentChildren } from 'preact';
import type { GatewayApiError } from './gateway-api.ts';
import { ProblemText } from './problem-text.tsx';
import { texts } from './texts/texts.ts';

interface Props {
  /** The class of the section. The id of its heading is `<id>-heading`, or `headingId`. */
  id: string;
  headingId?: string;
  title: string;
  /** Why the content of the section may be old or missing. */
  error?: GatewayApiError | null;
  children: ComponentChildren;
}

export function Section({ id, headingId, title, error, children }: Props) {
  const heading = headingId ?? `${id}-heading`;
  return (
    <section class={`card ${id}`} aria-labelledby={heading}>
      <h2 id={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
      {error && (
        <p class="note note-problem">
          {texts.common.notUpToDate}: <ProblemText problem={error} />
        </p>
      )}
    </section>
  );
}
