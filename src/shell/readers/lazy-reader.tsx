import { lazyComponent } from '../lazy-component.tsx';

/** Loads the code of the readers when the first of them is shown. */
export const LazyReader = lazyComponent(() => import('./reader-screen.tsx'));
