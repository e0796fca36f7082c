import { originTexts } from '../texts/origins.ts';
import { antwayLocalhost } from './antway-localhost.ts';
import type { SiteIsolation } from './site-isolation.ts';

interface Props {
  isolation: SiteIsolation | null;
  /** The reason why this origin uses no keys, where sites share it. */
  shared: string;
  /** The command that does the same. */
  command: string;
}

/** Says why the app uses no keys here, and where it does. Shows nothing where it uses them. */
export function IsolationNotice({ isolation, shared, command }: Props) {
  const t = originTexts();
  if (isolation === 'unknown') return <p class="notice-strong">{t.unknown}</p>;
  if (isolation !== 'shared') return null;
  const own = antwayLocalhost(location);
  return (
    <p class="notice-strong">
      {shared} {own ? <a href={`${own}/${location.hash}`}>{t.openAt(new URL(own).host)}</a> : t.askOperator}{' '}
      {t.orCommand(command)}
    </p>
  );
}
