import type { PeerStatus } from '../gateway-api.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { ScreenHeading } from '../screen-heading.tsx';
import { texts } from '../texts/texts.ts';
import type { Resource } from '../use-resource.ts';

interface Props {
  active: boolean;
  peers: Resource<PeerStatus[]>;
}

const LiveView = lazyComponent(() => import('./live-view.tsx'));

/** The heading, and below it the content. The content is loaded later, because no other screen needs it. */
export function LiveScreen(props: Props) {
  return (
    <>
      <ScreenHeading title={texts.live.title} intro={texts.live.intro} />
      <LiveView {...props} />
    </>
  );
}
