import { useLazy } from '../use-lazy.ts';
import type { PublishedListProps } from './published-list.tsx';

const load = () => import('./published-list.tsx');

/** The list of the user's publications, which is loaded when it is shown. */
export function PublishedSection(props: PublishedListProps) {
  const List = useLazy<PublishedListProps>(load);
  return List && <List {...props} />;
}
