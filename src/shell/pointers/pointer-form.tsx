import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../../errors.ts';
import { unlockFaultOf } from '../../owner/unlock-problem.ts';
import { Button } from '../button.tsx';
import { asPaymentError } from '../payment/payment-error.ts';
import { type Problem, ProblemText } from '../problem-text.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { texts } from '../texts/texts.ts';

/** A sentence of the shell that keeps a form from being sent. */
export class FormProblem {
  constructor(
    /** Empty if the field says it. */
    readonly text: string,
    /** The id of the field to focus. */
    readonly field?: string,
  ) {}
}

interface Props {
  title: string;
  submit: string;
  /** Shown while the work is going on. */
  working: string;
  isDangerous?: boolean;
  children: ComponentChildren;
  /** Shown in place of the form until the user has answered it. The form stays mounted, because its work goes on then. */
  question?: ComponentChildren;
  /** Does the work, or rejects. A `FormProblem` is shown at its field. */
  onSubmit: (signal: AbortSignal) => Promise<void>;
  onCancel: () => void;
}

/** A form for one action with a key. Cancelling ends the work, if the peers have not been asked to store yet. */
export function PointerForm(props: Props) {
  const { title, submit, working, isDangerous, children, question = null, onSubmit, onCancel } = props;
  const [isWorking, setWorking] = useState(false);
  const [problem, setProblem] = useState<FormProblem | Problem | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => {
    const field = form.current?.querySelector<HTMLElement>('input, select, textarea');
    (field?.checkVisibility() ? field : form.current)?.focus();
    return () => stopping.current?.abort();
  }, []);
  const isAsking = question !== null;
  const wasAsking = useRef(false);
  useEffect(() => {
    if (wasAsking.current && !isAsking) form.current?.focus();
    wasAsking.current = isAsking;
  }, [isAsking]);

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
      if (error instanceof FormProblem && error.field !== undefined)
        document.getElementById(error.field)?.focus();
    }
    setWorking(false);
  }

  return (
    <>
      <form
        ref={form}
        class="pointer-form"
        noValidate
        tabIndex={-1}
        hidden={isAsking}
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
      {question}
    </>
  );
}

/** A problem with a passphrase or a passkey is explained in the user's language. */
function problemOf(error: unknown): Problem {
  const problem = asPaymentError(error);
  const fault = unlockFaultOf(error);
  if (!fault) return problem;
  return { code: problem.code, message: pointerTexts().unlockFaults[fault], isTranslated: true };
}
