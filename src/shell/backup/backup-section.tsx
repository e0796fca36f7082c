import { lazyComponent } from '../lazy-component.tsx';

/** The section of the settings for backups. Its code and texts are loaded with it, because few visits need them. */
export const BackupSection = lazyComponent(() => import('./backup-panel.tsx'));
