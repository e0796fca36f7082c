import { lazyComponent } from '../lazy-component.tsx';

/** The list of the user's publications, which is loaded when it is shown. */
export const PublishedSection = lazyComponent(() => import('./published-list.tsx'));
