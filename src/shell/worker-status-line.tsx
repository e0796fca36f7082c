import type { GatewayApiError, PeerStatus } from './gateway-api.ts';
import type { WorkerStatus } from './use-worker.ts';

interface Props {
  status: WorkerStatus;
  online: boolean;
  /** What keeps a running gateway from working as configured. */
  fault: GatewayApiError | null;
  peers: readonly PeerStatus[] | null;
}

/** One line on whether the gateway works, in the page's header. */
export function WorkerStatusLine({ status, online, fault, peers }: Props) {
  const [tone, text] = lineFor(status, online, fault, peers);
  return (
    <p class={`status status-${tone}`} role="status">
      {text}
      {status === 'bypassed' && (
        <button type="button" class="link" onClick={() => location.reload()}>
          Reload
        </button>
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
): [Tone, string] {
  switch (status) {
    case 'starting':
      return ['wait', 'Starting the gateway …'];
    case 'bypassed':
      return ['wait', 'This page was loaded past the gateway.'];
    case 'failed':
      return ['bad', 'The gateway is not running'];
    case 'running':
      break;
  }
  if (fault) return ['bad', 'Running, with a problem'];
  if (!online) return ['wait', 'Offline: what was seen still opens'];
  if (peers?.length === 0) return ['bad', 'Running, without a peer'];
  if (peers?.every(isOut)) return ['bad', 'Running, but no peer answers'];
  return ['good', 'Gateway running'];
}

function isOut({ state }: PeerStatus): boolean {
  return state === 'unreachable' || state === 'banned';
}
