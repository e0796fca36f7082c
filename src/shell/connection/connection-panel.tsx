import { useEffect, useRef, useState } from 'preact/hooks';
import { splitKind } from '../../peer-url.ts';
import { Button } from '../button.tsx';
import type { PeerStatus } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { ScreenLink } from '../screen-link.tsx';
import { connectionDetails } from '../texts/connection-details.ts';
import { type Connection, programs } from './connection.ts';
import { isRefused, needsAccess, requestAccess, spaceOf } from './local-access.ts';

export interface PanelProps {
  connection: Connection;
  peers: readonly PeerStatus[];
  onCheck(): Promise<void>;
  onClose(): void;
}

/** Explains the connection: what each peer is, and what the user can do next. */
export default function ConnectionPanel({ connection, peers, onCheck, onClose }: PanelProps) {
  const t = connectionDetails();
  const heading = useRef<HTMLHeadingElement>(null);
  const [isChecking, setChecking] = useState(false);
  // A peer does not help a device without a network.
  const isOffline = connection.kind === 'offline';
  useEffect(() => heading.current?.focus(), []);

  async function check() {
    setChecking(true);
    await onCheck().finally(() => setChecking(false));
  }

  return (
    <section
      id="connection"
      class="connection-panel"
      aria-labelledby="connection-heading"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      <div class="connection-title">
        <h2 id="connection-heading" ref={heading} tabIndex={-1}>
          {t.title}
        </h2>
        <Button look="icon" aria-label={t.close} onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      <p>{aboutOf(connection, peers)}</p>
      {peers.length > 0 && (
        <ul class="connection-peers">
          {peers.map((peer) => (
            <li key={peer.url}>
              <span class="setting-name">
                <bdi>{hostOf(peer)}</bdi>
              </span>
              <span class="label">{kindOf(peer)}</span>
              <bdi class="note">{stateOf(peer)}</bdi>
            </li>
          ))}
        </ul>
      )}
      <LocalAccess peers={peers} onAllowed={check} />
      {!['network', 'program', 'direct', 'offline'].includes(connection.kind) && (
        <p class="note">
          {t.run[0]} <code>{connection.kind === 'silent' ? 'npm start' : 'npm start -- --network'}</code>
          {t.run[1]}
        </p>
      )}
      <p class="actions">
        {!isOffline && (
          <ScreenLink to="settings" class="button button-small">
            {t.addPeer}
          </ScreenLink>
        )}
        <Button
          look={isOffline ? 'main' : 'quiet'}
          isSmall
          aria-disabled={isChecking}
          onClick={() => !isChecking && check()}
        >
          {isChecking ? t.checkingAgain : t.checkAgain}
        </Button>
      </p>
    </section>
  );
}

function aboutOf({ kind }: Connection, peers: readonly PeerStatus[]): string {
  const { about } = connectionDetails();
  return kind === 'local' && peers.length === 0 ? about.noPeer : about[kind];
}

/** Certificate hashes and the prefix of the kind are of no interest here. */
function hostOf({ url }: PeerStatus): string {
  return new URL(splitKind(url).url).host;
}

function kindOf({ kind }: PeerStatus): string {
  return kind === 'antway' ? connectionDetails().antway : programs[kind];
}

function stateOf({ state, answers, network, kind }: PeerStatus): string {
  const { states } = connectionDetails();
  if (state === 'banned') return states.banned;
  if (answers === null) return states.unknown;
  if (!answers) return states.silent;
  if (kind !== 'antway') return states.program;
  if (!network) return states.store;
  const { peers, problem } = network;
  const name = network.name === 'mainnet' ? 'Autonomi' : network.name;
  if (network.state === 'connected') return states.connected(name, peers);
  const text = network.state === 'connecting' ? states.connecting(name) : states.disconnected(name);
  return problem ? `${text} (${problem})` : text;
}

/**
 * Chromium asks the user before a page of the internet may reach the local network, and a worker cannot ask. Therefore
 * this page sends the first request, after a click.
 */
function LocalAccess({ peers, onAllowed }: { peers: readonly PeerStatus[]; onAllowed(): Promise<void> }) {
  const t = connectionDetails().access;
  const [refused, setRefused] = useState<'denied' | 'silent' | null>(null);
  const silent = peers.find(({ url, answers }) => answers === false && needsAccess(url));
  if (!silent) return null;
  const space = spaceOf(silent.url);

  async function allow(url: string) {
    if (await requestAccess(url, AbortSignal.timeout(60_000))) {
      setRefused(null);
      await onAllowed();
      return;
    }
    setRefused((await isRefused(url)) ? 'denied' : 'silent');
  }

  return (
    <div class="connection-access">
      <p class="note">{t.about[space === 'loopback' ? 'loopback' : 'local']}</p>
      <Button look="quiet" isSmall onClick={() => allow(silent.url)}>
        {t.allow}
      </Button>
      <p class="note note-problem" role="alert">
        {refused && t[refused]}
      </p>
    </div>
  );
}
