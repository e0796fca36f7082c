import { language, texts } from './texts/texts.ts';

/** What went wrong, as the worker says it or as the shell does. */
export interface Problem {
  code: string;
  message: string;
  /** What the shell says of it, in the reader's language, before the message. */
  lead?: string | undefined;
  /** Whether the message is in the reader's language. The worker's are English. */
  isTranslated?: boolean;
}

/** A problem in the reader's language, what the worker says of it, and the code to quote. */
export function ProblemText({ problem }: { problem: Problem }) {
  const { code, message, isTranslated = false } = problem;
  const isForeign = !isTranslated && language !== 'en';
  const lead = problem.lead ?? (isForeign ? texts.errors[code] : undefined);
  return (
    <>
      {lead && `${lead}: `}
      {isForeign ? <span lang="en">{message}</span> : message} <span class="code">{code}</span>
    </>
  );
}
