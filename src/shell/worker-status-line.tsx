import { Button } from './button.tsx';
import type { GatewayApiError, PeerStatus } from './gateway-api.ts';
import { texts } from './texts/texts.ts';
import type { WorkerStatus } from './use-worker.ts';

interface Props {
  status: WorkerStatus;
  online: boolean;
  /** An error that prevents a running gateway from working as configured. */
  fault: GatewayApiError | null;
  peers: readonly PeerStatus[] | null;
  /** Whether the browser lets the gateway store data. */
  isStored: boolean;
}

export function WorkerStatusLine({ status, online, fault, peers, isStored }: Props) {
  const [tone, text] = lineFor(status, online, fault, peers, isStored);
  return (
    <p class={`status status-${tone}`} role="status">
      {text}
      {status === 'bypassed' && (
        <Button look="link" onClick={() => location.reload()}>
          {texts.common.reload}
        </Button>
      )}
    </p>
  );
}

type Tone = 'good' | 'wait' | 'bad';

function lineFor(
  status: WorkerStatus,
  online: boolean,
  fault: Props['fault'],
  peers: Props['peers'],
  isStored: boolean,
): [Tone, string] {
  switch (status) {
    case 'starting':
      return ['wait', texts.status.starting];
    case 'bypassed':
      return ['wait', texts.status.bypassed];
    case 'failed':
      return ['bad', texts.status.failed];
    case 'running':
      break;
  }
  if (fault) return ['bad', texts.status.fault];
  if (!online) return ['wait', texts.status.offline];
  if (peers?.length === 0) return ['bad', texts.status.noPeer];
  if (peers?.every(isOut)) return ['bad', texts.status.noPeerAnswers];
  if (!isStored) return ['wait', texts.status.notStoring];
  return ['good', texts.status.running];
}

function isOut({ state }: PeerStatus): boolean {
  return state === 'unreachable' || state === 'banned';
}
