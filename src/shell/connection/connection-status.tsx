import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodesStatus } from '../../nodes/nodes.ts';
import { Button } from '../button.tsx';
import type { GatewayApiError, PeerStatus } from '../gateway-api.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { texts } from '../texts/texts.ts';
import type { WorkerStatus } from '../use-worker.ts';
import { type Connection, connectionOf } from './connection.ts';

const ConnectionPanel = lazyComponent(() => import('./connection-panel.tsx'));

interface Props {
  status: WorkerStatus;
  online: boolean;
  /** An error that prevents a running gateway from working as configured. */
  fault: GatewayApiError | null;
  /** Null until the gateway has checked whether they answer. */
  peers: readonly PeerStatus[] | null;
  nodes: NodesStatus | null;
  /** Whether the browser lets the gateway store data. */
  isStored: boolean;
  /** Asks all peers again. */
  onCheck(): Promise<void>;
}

/** The state of the gateway and, while it runs, its connection: a button that opens the details. */
export function ConnectionStatus({ status, online, fault, peers, nodes, isStored, onCheck }: Props) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const connection = connectionOf(peers, online, nodes);
  const line = lineOf(connection, isStored);
  const announcement = useChange(connection.kind, line.text);

  if (status !== 'running' || fault) {
    const [tone, text] =
      fault && status === 'running' ? (['bad', texts.status.fault] as const) : lines(status);
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

  function close() {
    setOpen(false);
    button.current?.focus();
  }

  return (
    <div class="connection">
      <button
        ref={button}
        type="button"
        class={`status status-button status-${line.tone}`}
        aria-expanded={isOpen}
        aria-controls={isOpen ? 'connection' : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <bdi>{line.text}</bdi>
      </button>
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
      {isOpen && (
        <ConnectionPanel connection={connection} peers={peers ?? []} onCheck={onCheck} onClose={close} />
      )}
    </div>
  );
}

type Tone = 'good' | 'wait' | 'bad';

function lines(status: WorkerStatus): readonly [Tone, string] {
  switch (status) {
    case 'bypassed':
      return ['wait', texts.status.bypassed];
    case 'failed':
      return ['bad', texts.status.failed];
    default:
      return ['wait', texts.status.starting];
  }
}

const tones: Record<Connection['kind'], Tone> = {
  checking: 'wait',
  offline: 'wait',
  local: 'wait',
  silent: 'bad',
  untried: 'wait',
  network: 'good',
  connecting: 'wait',
  program: 'good',
  community: 'good',
  direct: 'good',
};

function lineOf(connection: Connection, isStored: boolean): { tone: Tone; text: string } {
  const { kind } = connection;
  const isCutOff = kind === 'offline' || kind === 'silent';
  if (!isStored && !isCutOff) return { tone: 'wait', text: texts.status.notStoring };
  const t = texts.connection;
  if (kind === 'network') return { tone: tones[kind], text: t.network(connection.name) };
  if (kind === 'program') return { tone: tones[kind], text: t.program(connection.name) };
  if (kind === 'community') return { tone: tones[kind], text: t.community(connection.name) };
  if (kind === 'direct') {
    return { tone: connection.nodes > 0 ? 'good' : 'wait', text: t.direct(connection.nodes) };
  }
  return { tone: tones[kind], text: t[kind] };
}

/** The text of a state that differs from the previous state. Empty at first, because a page load is no news. */
function useChange(kind: Connection['kind'], text: string): string {
  const last = useRef(kind);
  const [announcement, setAnnouncement] = useState('');
  useEffect(() => {
    if (kind === last.current || kind === 'checking') return;
    if (last.current !== 'checking') setAnnouncement(text);
    last.current = kind;
  }, [kind, text]);
  return announcement;
}
