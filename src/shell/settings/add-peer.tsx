import { useEffect, useRef, useState } from 'preact/hooks';
import type { PeerUrl } from '../../peer-url.ts';
import { Button } from '../button.tsx';
import { programs } from '../connection/connection.ts';
import { identifyPeer, type Obstacle } from '../connection/identify-peer.ts';
import { peerCandidates } from '../connection/peer-candidates.ts';
import { TextField } from '../text-field.tsx';
import { connectionDetails } from '../texts/connection-details.ts';
import { texts } from '../texts/texts.ts';

interface Props {
  /** The `PeerUrl.id` of the peers in the list. */
  known: readonly string[];
  /** The text that a link suggests. Nothing happens before the user clicks. */
  suggestion: { text: string } | undefined;
  /** @param announcement says what was found. */
  onAdd(peer: PeerUrl, announcement: string): void;
}

type State =
  | { step: 'idle' | 'looking' }
  | { step: 'bad'; text: string }
  | { step: 'obstacle'; peer: PeerUrl; obstacle: Obstacle };

/** Adds a peer by its host or URL. It finds out which kind of peer it is, and explains why it finds none. */
export default function AddPeer({ known, suggestion, onAdd }: Props) {
  const [text, setText] = useState('');
  const [state, setState] = useState<State>({ step: 'idle' });
  const [isSuggested, setSuggested] = useState(false);
  const search = useRef(new AbortController());
  const details = connectionDetails();
  const t = details.add;

  useEffect(() => () => search.current.abort(), []);

  useEffect(() => {
    if (!suggestion) return;
    setText(suggestion.text);
    setState({ step: 'idle' });
    setSuggested(suggestion.text !== '');
    const field = document.getElementById('add-peer');
    field?.focus();
    field?.scrollIntoView({ block: 'center' });
  }, [suggestion]);

  function start() {
    if (state.step === 'looking') return;
    search.current = new AbortController();
    const { signal } = search.current;
    setState({ step: 'looking' });
    find(signal).catch(() => {
      if (!signal.aborted) setState({ step: 'idle' });
    });
  }

  async function find(signal: AbortSignal) {
    let candidates: PeerUrl[];
    try {
      candidates = peerCandidates(text, location.origin);
    } catch {
      return refuse(/^\s*http:/i.test(text) ? t.insecure : texts.publish.badPeer);
    }
    if (candidates.every(({ id }) => known.includes(id))) return refuse(texts.settings.duplicatePeer);
    // A peer with a pinned certificate cannot be asked by HTTP.
    if (candidates[0]!.certificateHashes.length > 0) return add(candidates[0]!);
    const found = await identifyPeer(candidates, signal);
    signal.throwIfAborted();
    if (found.obstacle) return setState({ step: 'obstacle', peer: found.peer, obstacle: found.obstacle });
    if (known.includes(found.peer.id)) return refuse(texts.settings.duplicatePeer);
    add(found.peer);
  }

  function refuse(problem: string) {
    setState({ step: 'bad', text: problem });
    document.getElementById('add-peer')?.focus();
  }

  function add(peer: PeerUrl) {
    setText('');
    setSuggested(false);
    setState({ step: 'idle' });
    const program = peer.kind === 'antway' ? details.antway : programs[peer.kind];
    onAdd(peer, t.added(program, new URL(peer.origin).host));
    document.getElementById('add-peer')?.focus();
  }

  return (
    <>
      <form
        class="text-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <TextField
          id="add-peer"
          label={texts.settings.addPeer}
          inputMode="url"
          placeholder={t.placeholder}
          isMono
          value={text}
          isBad={state.step === 'bad'}
          describedBy="add-peer-problem add-peer-note"
          onInput={(value) => {
            search.current.abort();
            setText(value);
            setState({ step: 'idle' });
          }}
        />
        <Button look="quiet" type="submit" aria-disabled={state.step === 'looking'}>
          {texts.settings.add}
        </Button>
      </form>
      <p id="add-peer-problem" class="note note-problem" role="alert">
        {state.step === 'bad' && state.text}
        {state.step === 'obstacle' && t.obstacles[state.obstacle](new URL(state.peer.origin).host)}
      </p>
      {state.step === 'obstacle' && (
        <p class="note">
          <Button look="link" onClick={() => add(state.peer)}>
            {t.anyway}
          </Button>
        </p>
      )}
      <p id="add-peer-note" class="note" role="status">
        {state.step === 'looking' ? t.looking : isSuggested && state.step === 'idle' ? t.suggested : ''}
      </p>
    </>
  );
}
