import './pointers.css';
import { useEffect, useState } from 'preact/hooks';
import { publications } from '../../gateway/state/publications.ts';
import { Button } from '../button.tsx';
import { formatCount } from '../format.ts';
import type { GatewayConfig } from '../gateway-api.ts';
import { lazyComponent } from '../lazy-component.tsx';
import { IsolationNotice } from '../origins/isolation-notice.tsx';
import { useSiteIsolation } from '../origins/use-site-isolation.ts';
import type { PaidState } from '../payment/pointer-network.ts';
import { ProblemText } from '../problem-text.tsx';
import { usePublishState } from '../publish/publish-session.ts';
import { Section } from '../section.tsx';
import { pointerTexts } from '../texts/pointers.ts';
import { useResource } from '../use-resource.ts';
import { BringPointer } from './bring-pointer.tsx';
import { CreatePointer } from './create-pointer.tsx';
import { isMovable, ownedPointers } from './owned.ts';
import { PointerRow } from './pointer-row.tsx';
import { isPaymentRunning, presetPlace } from './use-place.tsx';

const Paid = lazyComponent(() => import('../payment/paid.tsx'));

const list = () => ownedPointers.list();
const published = async () => (await publications.list()).filter(({ isPrivate }) => !isPrivate);

interface Props {
  config: GatewayConfig | null;
  /**
   * Content that the user wants a lasting address for, and whether it is paid for and in the network. A new object for each
   * click.
   */
  wanted: { address: string; isPaid: boolean } | null;
  /** An action is over. It may have paid for a state, or stored one. */
  onChanged: () => void;
}

/** The user's own pointers. Their keys stay in this browser. */
export default function PointersSection({ config, wanted, onChanged }: Props) {
  const owned = useResource(list, true);
  const contents = useResource(published, true);
  const isolation = useSiteIsolation(config !== null);
  const [form, setForm] = useState<{ kind: 'create' | 'bring'; address?: string } | null>(null);
  /** The only pointer that can lead to the wanted content. */
  const [moving, setMoving] = useState<{ hex: string; wanted: { address: string } } | null>(null);
  const [announcement, setAnnouncement] = useState('');
  /** The last payment for a state. */
  const [paid, setPaid] = useState<PaidState | null>(null);
  const { step } = usePublishState();
  useEffect(() => {
    if (step === 'done') contents.refresh();
  }, [step]);
  const t = pointerTexts();

  function changed() {
    owned.refresh();
    onChanged();
  }

  function done(text: string, payment: PaidState | null = null) {
    // The user may not have saved the receipt of an earlier payment.
    if (payment) setPaid(payment);
    setAnnouncement(text);
    changed();
    document.getElementById('pointers-heading')?.focus();
  }

  function formDone(text: string, payment?: PaidState | null) {
    setForm(null);
    done(text, payment);
  }

  /** Another form would end the payment that is going on. */
  function refuse() {
    setAnnouncement(t.finishFirst);
    const heading = document.getElementById('pointers-heading');
    heading?.focus();
    heading?.scrollIntoView();
  }

  const isReady = owned.value !== null && contents.value !== null && isolation.value === 'own';
  useEffect(() => {
    if (!wanted || !isReady) return;
    if (isPaymentRunning()) return refuse();
    presetPlace(wanted.isPaid ? 'network' : null);
    const movable = owned.value!.filter(isMovable);
    if (movable.length === 0) return setForm({ kind: 'create', address: wanted.address });
    setForm(null);
    if (movable.length === 1) return setMoving({ hex: movable[0]!.address.hex, wanted });
    // The user chooses one.
    const heading = document.getElementById('pointers-heading');
    heading?.focus();
    heading?.scrollIntoView();
  }, [wanted, isReady]);

  const common = { config, publications: contents.value ?? [] };
  return (
    <Section id="pointers" title={t.title} error={isolation.error}>
      <p class="note">{t.note}</p>
      <p class="note published-status" role="status">
        {announcement}
      </p>
      {paid && <Paid key={paid.network.records[0]} {...paid} />}
      {owned.error && (
        <p class="note note-problem" role="alert">
          {t.blocked}: <ProblemText problem={owned.error} />
        </p>
      )}
      {owned.value && owned.value.length > 0 && (
        <ul aria-label={`${t.title}: ${formatCount(owned.value.length)}`}>
          {owned.value.map((pointer) => (
            <PointerRow
              key={pointer.address.hex}
              pointer={pointer}
              isShared={isolation.value !== 'own'}
              wanted={moving?.hex === pointer.address.hex ? moving.wanted : null}
              onChanged={changed}
              onBusy={refuse}
              onDone={done}
              {...common}
            />
          ))}
        </ul>
      )}
      {owned.value?.length === 0 && form === null && <p class="empty">{t.empty}</p>}
      <IsolationNotice isolation={isolation.value} shared={t.shared} command="antway pointer" />
      {form?.kind === 'create' && (
        <CreatePointer
          key={form.address}
          {...common}
          wanted={form.address}
          onDone={formDone}
          onCancel={() => {
            setForm(null);
            // The key is stored before the state.
            changed();
          }}
        />
      )}
      {form?.kind === 'bring' && (
        <BringPointer {...common} onDone={formDone} onCancel={() => setForm(null)} />
      )}
      {isReady && form === null && (
        <p class="actions">
          <Button onClick={() => setForm({ kind: 'create' })}>{t.create}</Button>
          <Button look="quiet" onClick={() => setForm({ kind: 'bring' })}>
            {t.bring}
          </Button>
        </p>
      )}
    </Section>
  );
}
