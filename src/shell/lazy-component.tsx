import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { GatewayApiError } from './gateway-api.ts';
import { partProblem } from './part-problem.ts';
import { ProblemText } from './problem-text.tsx';

/**
 * A component whose code the browser loads when the component is first shown. Until then it shows nothing.
 * @param load imports the module. A failed load is shown in the component's place, and the next mount tries again.
 */
export function lazyComponent<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LazyComponent(props: Props) {
    const [problem, setProblem] = useState<GatewayApiError | null>(null);
    const [, setLoaded] = useState(loaded !== undefined);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (module) => {
          loaded = module.default;
          setLoaded(true);
        },
        (error) => setProblem(partProblem(error)),
      );
    }, []);
    const Loaded = loaded;
    if (Loaded) return <Loaded {...props} />;
    return (
      problem && (
        <p class="note note-problem" role="alert">
          <ProblemText problem={problem} />
        </p>
      )
    );
  };
}
