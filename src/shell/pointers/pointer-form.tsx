import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import { unlockFaultOf } from '../../owner/unlock-problem.ts';
import { Button } from '../button.tsx';
import { asGatewayApiError } from '../gateway-api.ts';
import { type Problem, ProblemText } from '../problem-text.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { texts } from '../texts/texts.ts';

/** A sentence of the shell that keeps a form from being sent, and the id of the field to focus. */
export class FormProblem {
  constructor(
    readonly text: string,
    readonly field: string,
  ) {}
}

interface Props {
  title: string;
  submit: string;
  /** Shown while the work is going on. */
  working: string;
  isDangerous?: boolean;
  children: ComponentChildren;
  /** Does the work, or rejects. A `FormProblem` is shown at its field. */
  onSubmit: (signal: AbortSignal) => Promise<void>;
  onCancel: () => void;
}

/** A form for one action with a key. Cancelling ends the work, if the peers have not been asked to store yet. */
export function PointerForm({ title, submit, working, isDangerous, children, onSubmit, onCancel }: Props) {
  const [isWorking, setWorking] = useState(false);
  const [problem, setProblem] = useState<FormProblem | Problem | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => {
    const field = form.current?.querySelector<HTMLElement>('input, select, textarea');
    (field?.checkVisibility() ? field : form.current)?.focus();
    return () => stopping.current?.abort();
  }, []);

  async function send() {
    const stop = new AbortController();
    stopping.current = stop;
    setWorking(true);
    setProblem(null);
    try {
      await onSubmit(stop.signal);
    } catch (error) {
      if (isAbort(error, stop.signal)) return;
      setProblem(error instanceof FormProblem ? error : problemOf(error));
      if (error instanceof FormProblem) document.getElementById(error.field)?.focus();
    }
    setWorking(false);
  }

  return (
    <form
      ref={form}
      class="pointer-form"
      noValidate
      tabIndex={-1}
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWorking) void send();
      }}
    >
      {children}
      <p class="note" role="status">
        {isWorking && working}
      </p>
      <p class="note note-problem" role="alert">
        {problem && (problem instanceof FormProblem ? problem.text : <ProblemText problem={problem} />)}
      </p>
      <p class="actions">
        <Button type="submit" look={isDangerous ? 'danger' : 'main'} isSmall aria-disabled={isWorking}>
          {submit}
        </Button>
        <Button look="quiet" isSmall onClick={onCancel}>
          {texts.common.cancel}
        </Button>
      </p>
    </form>
  );
}

/** A problem with a passphrase or a passkey is explained in the user's language. */
function problemOf(error: unknown): Problem {
  const fault = unlockFaultOf(error);
  if (!fault) return asGatewayApiError(error);
  const { code } = asGatewayApiError(error);
  return { code, message: pointerTexts().unlockFaults[fault], isTranslated: true };
}
