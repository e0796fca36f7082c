import { useState } from 'preact/hooks';
import type { StatsSnapshot } from '../../stats/stats.ts';
import { Button } from '../button.tsx';
import { saveAs } from '../save-as.ts';
import { texts } from '../texts/texts.ts';

export function StatsActions({ stats }: { stats: StatsSnapshot | null }) {
  const [said, setSaid] = useState('');
  const json = () => JSON.stringify(stats, null, 2);

  async function copy() {
    try {
      await navigator.clipboard.writeText(json());
      setSaid(texts.live.statsCopied);
    } catch {
      setSaid(texts.common.notCopied);
    }
  }

  return (
    <>
      <Button look="quiet" isSmall disabled={!stats} onClick={copy}>
        {texts.live.copyStats}
      </Button>
      <Button
        look="quiet"
        isSmall
        disabled={!stats}
        onClick={() => saveAs(new Blob([json()], { type: 'application/json' }), 'antway-stats.json')}
      >
        {texts.live.saveStats}
      </Button>
      <p class="note" role="status">
        {said}
      </p>
    </>
  );
}
