import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

let loaded: ComponentType | null = null;

/** The section of the settings for backups. Its code and texts are loaded with it, because few visits need them. */
export function BackupSection() {
  const [Panel, setPanel] = useState<ComponentType | null>(() => loaded);
  useEffect(() => {
    if (loaded) return;
    import('./backup-panel.tsx').then(
      ({ BackupPanel }) => {
        loaded = BackupPanel;
        setPanel(() => BackupPanel);
      },
      (error) => console.warn('antway: the backup section could not be loaded', error),
    );
  }, []);
  return Panel && <Panel />;
}
