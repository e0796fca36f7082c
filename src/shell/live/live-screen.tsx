import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { GatewayApiError, PeerStatus } from '../gateway-api.ts';
import { partProblem } from '../part-problem.ts';
import { ProblemText } from '../problem-text.tsx';
import { ScreenHeading } from '../screen-heading.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';

interface Props {
  active: boolean;
  peers: Resource<PeerStatus[]>;
}

let loaded: ComponentType<Props> | null = null;

/** The heading, and below it the content. The content is loaded later, because no other screen needs it. */
export function LiveScreen(props: Props) {
  const [View, setView] = useState<ComponentType<Props> | null>(() => loaded);
  const [error, setError] = useState<GatewayApiError | null>(null);
  useEffect(() => {
    if (loaded) return;
    import('./live-view.tsx').then(
      ({ LiveView }) => {
        loaded = LiveView;
        setView(() => LiveView);
      },
      (caught) => setError(partProblem(caught)),
    );
  }, []);
  return (
    <>
      <ScreenHeading title={texts.live.title} intro={texts.live.intro} />
      {View && <View {...props} />}
      {error && (
        <p class="note note-problem" role="alert">
          <ProblemText problem={error} />
        </p>
      )}
    </>
  );
}
