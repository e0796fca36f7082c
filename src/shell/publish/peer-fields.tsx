import { useState } from 'preact/hooks';
import { PeerUrl } from '../../peer-url.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { TextField } from '../text-field.tsx';
import { texts } from '../texts/texts.ts';
import { UrlChecks } from './url-checks.tsx';

/** The peers to write to. The values stay while the user visits other screens. */
const lastChoice = { unchecked: new Set<string>(), other: '', token: '' };

/** Why the choice has no peers: the other peer is not a URL of one, or nothing is chosen. */
export type PeerProblem = 'peer' | 'none';

export interface PeerChoice {
  /** The gateway's peers that accept records from a page. */
  known: readonly string[];
  form: Readonly<typeof lastChoice>;
  change(part: Partial<typeof lastChoice>): void;
  /** The URLs of the chosen peers, or why there are none. */
  chosen(): { peers: string[]; token: string } | PeerProblem;
}

export function usePeerChoice(config: GatewayConfig | null): PeerChoice {
  const [form, setForm] = useState({ ...lastChoice });
  const known = (config?.peers ?? []).filter((url) => takesRecords(PeerUrl.parse(url)));
  return {
    known,
    form,
    change: (part) => setForm({ ...Object.assign(lastChoice, part) }),
    chosen() {
      const peers = known.filter((url) => !form.unchecked.has(url));
      if (form.other.trim()) {
        try {
          const peer = PeerUrl.parse(form.other.trim(), location.origin);
          if (!takesRecords(peer)) return 'peer';
          peers.push(String(peer));
        } catch {
          return 'peer';
        }
      }
      if (peers.length === 0) return 'none';
      return { peers: [...new Set(peers)], token: form.token.trim() };
    },
  };
}

/** AntTP and antd have their own ways to upload, which cost money. */
function takesRecords({ kind }: PeerUrl): boolean {
  return kind === 'antway';
}

interface Props {
  choice: PeerChoice;
  problem: PeerProblem | null;
  /** Begins the ids of the fields, where others like these may be on the screen. */
  idPrefix?: string;
}

/** Fields for the peers to write to, and their token. */
export function PeerFields({ choice, problem, idPrefix = '' }: Props) {
  const { known, form, change } = choice;
  const t = texts.publish;
  return (
    <>
      <UrlChecks
        legend={t.peers}
        urls={known}
        unchecked={form.unchecked}
        onChange={(unchecked) => change({ unchecked })}
      />
      <div class="field-pair">
        <TextField
          id={`${idPrefix}other-peer`}
          label={t.otherPeer}
          type="url"
          placeholder={t.otherPeerPlaceholder}
          isMono
          value={form.other}
          isBad={problem === 'peer'}
          onInput={(other) => change({ other })}
        />
        <TextField
          id={`${idPrefix}token`}
          label={t.token}
          type="password"
          note={t.tokenNote}
          isMono
          value={form.token}
          onInput={(token) => change({ token })}
        />
      </div>
    </>
  );
}
