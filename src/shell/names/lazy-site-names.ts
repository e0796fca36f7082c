import { lazyComponent } from '../lazy-component.tsx';

/** `SiteNames`, whose code is loaded when it is first shown. */
export const LazySiteNames = lazyComponent(() => import('./site-names.tsx'));
