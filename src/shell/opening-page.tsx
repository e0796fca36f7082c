import { useEffect, useState } from 'preact/hooks';
import { homeOf, openThroughWorker } from './boot.ts';
import { asBootError, type BootError } from './boot-error.ts';
import { BootProblem } from './boot-problem.tsx';
import { decodePath } from './format.ts';
import { Logo } from './logo.tsx';
import { texts } from './texts/texts.ts';

/** Most pages open within this time, in milliseconds. A short flash of "Opening" would only distract. */
const quietMs = 400;
const longMs = 12_000;

/** The page for a deep link, until the worker is active and the navigation goes through it. */
export function OpeningPage() {
  const [waited, setWaited] = useState<'quiet' | 'a while' | 'long'>('quiet');
  const [problem, setProblem] = useState<BootError | null>(null);

  useEffect(() => {
    openThroughWorker().catch((error) => setProblem(asBootError(error)));
    const timers = [setTimeout(setWaited, quietMs, 'a while'), setTimeout(setWaited, longMs, 'long')];
    return () => timers.forEach(clearTimeout);
  }, []);

  return (
    <main class="notice-page">
      <a class="brand" href={homeOf(location)}>
        <Logo />
        {texts.appName}
      </a>
      {problem ? (
        <BootProblem problem={problem} />
      ) : (
        <div role="status" class="opening">
          {waited !== 'quiet' && (
            <>
              <h1>{texts.boot.opening}</h1>
              <p class="opening-path">{decodePath(location.pathname)}</p>
              <div class="opening-bar" aria-hidden="true" />
            </>
          )}
          {waited === 'long' && <p>{texts.boot.openingLong}</p>}
        </div>
      )}
    </main>
  );
}
