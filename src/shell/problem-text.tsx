import { replaceDisruptive } from '../util/sanitize-text.ts';
import { language, texts } from './texts/texts.ts';

export interface Problem {
  code: string;
  message: string;
  /** A text of the shell in the user's language, shown before the message. */
  lead?: string | undefined;
  /** Whether the message is in the user's language. The worker's messages are English. */
  isTranslated?: boolean;
}

export function ProblemText({ problem }: { problem: Problem }) {
  const { code, isTranslated = false } = problem;
  // It can contain the path of a stranger's file.
  const message = replaceDisruptive(problem.message, '\ufffd');
  const isForeign = !isTranslated && language !== 'en';
  const lead = problem.lead ?? (isForeign ? texts.errors[code] : undefined);
  return (
    <>
      {lead && `${lead}: `}
      {isForeign ? <span lang="en">{message}</span> : message} <span class="code">{code}</span>
    </>
  );
}
