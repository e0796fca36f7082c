import { homeOf, isShellPath } from './boot.ts';
import type { BootError } from './boot-error.ts';
import { Button } from './button.tsx';
import { texts } from './texts/texts.ts';

export function BootProblem({ problem }: { problem: BootError }) {
  const isOtherPath = !isShellPath(location);
  return (
    <div role="alert" class="problem">
      <h1>{problem.code === 'NOTHING_HERE' ? texts.boot.nothingHere : texts.boot.cannotStart}</h1>
      <p>{problem.message}</p>
      <p>{problem.advice}</p>
      <p class="actions">
        <Button onClick={() => location.reload()}>{texts.common.tryAgain}</Button>
        {isOtherPath && (
          <a class="button button-quiet" href={homeOf(location)}>
            {texts.common.startPage}
          </a>
        )}
      </p>
      <p class="code">{problem.code}</p>
    </div>
  );
}
