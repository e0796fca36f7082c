import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { GatewayApiError } from '../gateway-api.ts';
import { partProblem } from '../part-problem.ts';
import { ProblemText } from '../problem-text.tsx';
import type { ReaderScreenProps } from './reader-screen.tsx';

/** Loads the code of the readers when the first of them is shown. */
export function LazyReader(props: ReaderScreenProps) {
  const [screen, setScreen] = useState<{ Screen: ComponentType<ReaderScreenProps> } | null>(null);
  const [problem, setProblem] = useState<GatewayApiError | null>(null);
  useEffect(() => {
    import('./reader-screen.tsx').then(
      ({ ReaderScreen }) => setScreen({ Screen: ReaderScreen }),
      (error) => setProblem(partProblem(error)),
    );
  }, []);
  if (screen) return <screen.Screen {...props} />;
  return (
    problem && (
      <p class="note note-problem" role="alert">
        <ProblemText problem={problem} />
      </p>
    )
  );
}
