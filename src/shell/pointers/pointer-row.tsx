import { useEffect, useRef, useState } from 'preact/hooks';
import { finalCounter } from '../../content/pointer.ts';
import type { Publication } from '../../gateway/state/publications.ts';
import type { OwnedPointer } from '../../owner/owned-pointers.ts';
import { forgetPasskey } from '../../owner/passkeys.ts';
import type { OwnerState } from '../../owner/states.ts';
import { Button } from '../button.tsx';
import { ContentLink } from '../content-link.tsx';
import { CopyButton } from '../copy-button.tsx';
import type { GatewayConfig } from '../gateway-api.ts';
import SiteNames from '../names/site-names.tsx';
import type { PaidState } from '../payment/pointer-network.ts';
import { titleOfPublication } from '../published/published-row.tsx';
import { saveAs } from '../save-as.ts';
import { pointerTexts } from '../texts/pointers.ts';
import { locale, texts } from '../texts/texts.ts';
import { ContentChoice, firstContent, targetOf } from './content-choice.tsx';
import { ownedPointers } from './owned.ts';
import { FormProblem, PointerForm } from './pointer-form.tsx';
import { nameOf } from './pointer-name.ts';
import { UnlockWays } from './unlock-ways.tsx';
import { useNewPassphrase } from './use-new-lock.tsx';
import { isPaymentRunning, usePlace } from './use-place.tsx';
import { useUnlock } from './use-unlock.tsx';
import { Words } from './words.tsx';

type Kind = keyof ReturnType<typeof pointerTexts>['actions'];

interface Action {
  kind: Kind;
  /** The earlier state to return to. */
  state?: OwnerState;
  /** The content to lead to. */
  address?: string;
}

interface Props {
  pointer: OwnedPointer;
  publications: readonly Publication[];
  config: GatewayConfig | null;
  /** Whether nothing may be signed here. */
  isShared: boolean;
  /** The address that the user wants this pointer to lead to. A new object for each click. */
  wanted: { address: string } | null;
  /** Loads the pointer again. */
  onChanged: () => void;
  /** Says that a payment has to end first. */
  onBusy: () => void;
  /** @param paid the payment for a stored state. */
  onDone: (announcement: string, paid?: PaidState | null) => void;
}

/** A pointer of the user, and what can be done with its key. */
export function PointerRow(props: Props) {
  const { pointer, publications, config, isShared, wanted, onChanged, onBusy, onDone } = props;
  const [action, setAction] = useState<Action | null>(null);
  const [phrase, setPhrase] = useState('');
  const last = useRef<HTMLElement | null>(null);
  const t = pointerTexts();
  const { address, states, missingAt } = pointer;
  const { newest, isFrozen, all } = states;
  const name = nameOf(pointer);
  const path = `/${address.hex}/`;
  const label = (text: string) => texts.library.actionOn(text, name);
  const titleOf = (hex: string) => {
    const publication = publications.find(({ id }) => id === hex);
    return publication ? titleOfPublication(publication) : `${hex.slice(0, 8)}…`;
  };

  // The focus returns to the button that opened the form.
  useEffect(() => {
    if (action === null && last.current?.isConnected) last.current.focus();
  }, [action]);

  useEffect(() => {
    if (wanted) start('move', { address: wanted.address });
  }, [wanted]);

  function start(kind: Kind, about: Omit<Action, 'kind'> = {}) {
    // The form of the action may wait for a payment.
    if (action && isPaymentRunning()) return onBusy();
    last.current = document.activeElement as HTMLElement | null;
    setPhrase('');
    setAction({ kind, ...about });
  }

  const signing: Kind[] = isShared || isFrozen ? [] : newest ? ['move', 'freeze'] : ['move'];
  const storing: Kind[] = isShared || !newest ? [] : ['store'];
  const kinds: Kind[] = [
    ...signing,
    ...storing,
    'keyFile',
    'phrase',
    ...(isShared ? [] : ['unlock' as const]),
    'remove',
  ];
  return (
    <li class="published-row">
      <div class="published-head">
        {newest ? (
          <ContentLink class="site-title" href={path}>
            <bdi>{name}</bdi>
          </ContentLink>
        ) : (
          <bdi class="site-title">{name}</bdi>
        )}
        {isFrozen && <span class="mark">{t.facts.frozen}</span>}
        {missingAt.length > 0 && <span class="mark">{t.facts.incomplete}</span>}
      </div>
      <p class="site-facts">
        {newest ? (
          <>
            <span>{t.facts.to(titleOf(newest.target.hex))}</span>
            {!isFrozen && <span>{t.facts.state(String(newest.counter))}</span>}
            <span>{dateOf(all.at(-1)!)}</span>
          </>
        ) : (
          <span>{t.facts.noState}</span>
        )}
      </p>
      {missingAt.length > 0 && <p class="notice-strong">{t.missingAt(missingAt.map(placeOf).join(', '))}</p>}
      <p class="pointer-link">
        <span class="address published-address" title={address.hex}>
          {address.hex}
        </span>
        <CopyButton text={`${location.origin}${path}`} what={label(t.link)} />
      </p>
      {newest && <SiteNames address={address.hex} title={name} />}
      {all.length > 1 && !isFrozen && !isShared && (
        <details class="pointer-states">
          <summary>{t.states}</summary>
          <ul>
            {all.toReversed().map((state) => (
              <li key={`${state.counter} ${state.target.hex}`}>
                <span>
                  {t.facts.state(String(state.counter))} · {dateOf(state)} · {titleOf(state.target.hex)}
                </span>{' '}
                {state.counter === newest?.counter ? (
                  <span class="mark">{t.current}</span>
                ) : (
                  <Button
                    look="link"
                    aria-label={`${t.actions.back} ${state.counter}`}
                    onClick={() => start('back', { state })}
                  >
                    {t.actions.back}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {phrase && <Words phrase={phrase} />}
      {action ? (
        <ActionForm
          key={`${action.kind} ${action.address}`}
          {...{ pointer, publications, config, action }}
          onPhrase={(words) => {
            setPhrase(words);
            setAction(null);
          }}
          onCancel={() => {
            setAction(null);
            // An action that failed may have learnt or signed a state.
            onChanged();
          }}
          onDone={(text, paid) => {
            setAction(null);
            onDone(text, paid);
          }}
        />
      ) : (
        <p class="actions">
          {kinds.map((kind) => (
            <Button
              key={kind}
              look="quiet"
              isSmall
              aria-label={label(t.actions[kind])}
              onClick={() => start(kind)}
            >
              {t.actions[kind]}
            </Button>
          ))}
        </p>
      )}
    </li>
  );
}

interface ActionProps extends Omit<Props, 'isShared' | 'wanted' | 'onChanged' | 'onBusy'> {
  action: Action;
  onPhrase: (phrase: string) => void;
  onCancel: () => void;
}

/** Unlocks the key, and asks for what else an action needs. */
function ActionForm({ pointer, publications, config, action, onPhrase, onCancel, onDone }: ActionProps) {
  const { kind, state, address: wanted } = action;
  const key = useUnlock(pointer);
  const filePassphrase = useNewPassphrase();
  const [content, setContent] = useState(() => firstContent(publications, wanted));
  const [isBad, setBad] = useState(false);
  const where = usePlace(config);
  const t = pointerTexts();
  const { address } = pointer;
  const name = nameOf(pointer);
  const needsPlace = kind === 'move' || kind === 'back' || kind === 'freeze' || kind === 'store';
  const needsKey = kind !== 'store' && kind !== 'remove';
  const atPlace = where.isNetwork ? t.workingInNetwork : t.working;

  async function move(target: ReturnType<typeof targetOf>, signal: AbortSignal) {
    if (!target) {
      setBad(true);
      throw new FormProblem(t.badAddress, 'pointer-address');
    }
    const run = where.chosen();
    const unlock = await key.unlock(signal);
    const moved = await run(name, signal, (peers) => ownedPointers.move(address, unlock, target, peers));
    onDone(t.moved(name, t.facts.state(String(moved.pointer.counter))), where.paid());
  }

  const run: Record<Exclude<Kind, 'unlock'>, (signal: AbortSignal) => Promise<void>> = {
    move: (signal) => move(targetOf(content), signal),
    back: (signal) => move(state, signal),
    async freeze(signal) {
      const run = where.chosen();
      const unlock = await key.unlock(signal);
      // The action is offered only if there is a state.
      const { newest } = pointer.states;
      await run(name, signal, (peers) => ownedPointers.freeze(address, unlock, newest!, peers));
      onDone(t.frozen(name), where.paid());
    },
    async store(signal) {
      const run = where.chosen();
      await run(name, signal, (peers) => ownedPointers.store(address, peers));
      onDone(t.stored(name), where.paid());
    },
    async keyFile(signal) {
      const passphrase = key.isByPasskey ? filePassphrase.checked() : key.passphrase;
      const text = await ownedPointers.keyFile(address, await key.unlock(signal), passphrase);
      const file = `${pointer.label.replace(/[^\p{L}\p{N}_-]+/gu, '-') || address.hex.slice(0, 8)}.key`;
      saveAs(new Blob([text], { type: 'application/json' }), file);
      onDone(t.saved);
    },
    async phrase(signal) {
      onPhrase(await ownedPointers.phrase(address, await key.unlock(signal)));
    },
    async remove(signal) {
      await ownedPointers.remove(address, signal);
      if (pointer.passkey) await forgetPasskey(pointer.passkey);
      onDone(t.removed(name));
    },
  };

  if (kind === 'unlock') return <UnlockWays {...{ pointer, onCancel, onDone }} />;
  return (
    <PointerForm
      title={`${t.actions[kind]} ${name}`}
      submit={t.doIt[kind]}
      working={needsPlace ? atPlace : t.unlocking}
      question={where.question}
      isDangerous={kind === 'freeze' || kind === 'remove'}
      onSubmit={run[kind]}
      onCancel={onCancel}
    >
      <p>{t.questions[kind]}</p>
      {kind === 'move' && (
        <ContentChoice
          publications={publications}
          content={content}
          isBad={isBad}
          onChange={(next) => {
            setContent(next);
            setBad(false);
          }}
        />
      )}
      {needsPlace && where.fields}
      {needsKey && key.fields()}
      {kind === 'keyFile' && key.isByPasskey && (
        <>
          <p class="note">{t.filePassphrase}</p>
          {filePassphrase.fields()}
        </>
      )}
    </PointerForm>
  );
}

function dateOf({ signed, counter }: OwnerState): string {
  if (counter === finalCounter) return '';
  return new Date(signed).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Direct access has a name in place of a URL. */
function placeOf(url: string): string {
  return URL.canParse(url) ? url : pointerTexts().nodes;
}
