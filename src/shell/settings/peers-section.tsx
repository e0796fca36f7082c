import { useState } from 'preact/hooks';
import { PeerUrl } from '../../peer-url.ts';
import { Button } from '../button.tsx';
import { formatMilliseconds } from '../format.ts';
import { asGatewayApiError, gateway } from '../gateway-api.ts';
import { Icon } from '../icons.tsx';
import { lazyComponent } from '../lazy-component.tsx';
import { type Problem, ProblemText } from '../problem-text.tsx';
import { Section } from '../section.tsx';
import { texts } from '../texts/texts.ts';
import type { SettingsState } from './use-settings.ts';

interface Props {
  settings: SettingsState;
  /** As of `AddPeer`. */
  suggestion: { text: string } | undefined;
}

const AddPeer = lazyComponent(() => import('./add-peer.tsx'));

/** The peers to fetch chunks from. Their order has no meaning: each address has its own. */
export function PeersSection({ settings, suggestion }: Props) {
  const { own, config, change } = settings;
  const t = texts.settings;
  // The URLs as written, with their certificate hashes after `#`.
  const urls = own.peers ?? config.peers;

  return (
    <Section id="peers" title={t.peers}>
      <p class="note">{t.peersNote}</p>
      {urls.length === 0 && <p class="empty">{t.noPeers}</p>}
      <ul class="setting-list">
        {urls.map((url) => (
          <PeerEntry
            key={url}
            url={url}
            onRemove={() => {
              change({ peers: urls.filter((other) => other !== url) });
              // The focused button disappears with its row.
              document.getElementById('peers-heading')?.focus();
            }}
          />
        ))}
      </ul>
      <div class="add-peer">
        <AddPeer
          known={urls.map(originOf)}
          suggestion={suggestion}
          onAdd={(peer, announcement) => change({ peers: [...urls, String(peer)] }, announcement)}
        />
      </div>
      <p class="note">
        {config.sources.peers === 'user' ? t.peersOwn : t.peersOfHost}{' '}
        {own.peers && (
          <Button look="link" onClick={() => change({ peers: undefined })}>
            {t.peersReset}
          </Button>
        )}
      </p>
    </Section>
  );
}

/** How the peers are reached. */
export function TransportSection({ settings: { own, config, change } }: { settings: SettingsState }) {
  const t = texts.settings;
  return (
    <Section id="transport" title={t.reaching}>
      <label class="check">
        <input
          type="checkbox"
          checked={own.usePeersOfPeers ?? config.usePeersOfPeers}
          onChange={({ currentTarget }) => change({ usePeersOfPeers: currentTarget.checked })}
        />
        <span>{t.usePeersOfPeers}</span>
      </label>
      <fieldset class="choice">
        <legend>{t.transport}</legend>
        <div class="segments">
          {(['auto', 'webtransport', 'http'] as const).map((transport) => (
            <label key={transport}>
              <input
                type="radio"
                name="transport"
                checked={(own.transport ?? config.transport) === transport}
                onChange={() => change({ transport })}
              />
              <span>{t.transports[transport]}</span>
            </label>
          ))}
        </div>
      </fieldset>
    </Section>
  );
}

interface EntryProps {
  url: string;
  onRemove: () => void;
}

type Test =
  | { state: 'none' | 'asking' }
  | { state: 'good'; text: string }
  | { state: 'bad'; problem: Problem };

function PeerEntry({ url, onRemove }: EntryProps) {
  const [test, setTest] = useState<Test>({ state: 'none' });
  const t = texts.settings;
  const name = originOf(url);

  async function ask() {
    setTest({ state: 'asking' });
    try {
      const { info, transport, firstByteMs } = await gateway.testPeer(url);
      const by = transport === 'http' ? 'HTTP' : 'WebTransport';
      setTest({ state: 'good', text: t.testGood(info?.name || name, by, formatMilliseconds(firstByteMs)) });
    } catch (error) {
      setTest({ state: 'bad', problem: asGatewayApiError(error) });
    }
  }

  return (
    <li>
      <span class="setting-name">{name}</span>
      <span class="setting-actions">
        <Button
          look="quiet"
          isSmall
          aria-label={t.testOf(name)}
          disabled={test.state === 'asking'}
          onClick={ask}
        >
          {t.test}
        </Button>
        <Button look="icon" aria-label={t.removePeer(name)} onClick={onRemove}>
          <Icon name="close" size={18} />
        </Button>
      </span>
      <p class={`note setting-note ${test.state === 'bad' ? 'note-problem' : ''}`} role="status">
        {test.state === 'asking' && t.testing}
        {test.state === 'good' && test.text}
        {test.state === 'bad' && <ProblemText problem={test.problem} />}
      </p>
    </li>
  );
}

/** The name of a peer for the user: its URL without certificate hashes, with its kind. */
function originOf(text: string): string {
  try {
    return PeerUrl.parse(text, location.origin).id;
  } catch {
    return text;
  }
}
