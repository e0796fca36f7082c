import { useEffect, useState } from 'preact/hooks';
import { isNetworkChain } from '../../payment/chain.ts';
import { Button } from '../button.tsx';
import { formatChunks, formatCount } from '../format.ts';
import { ProblemText } from '../problem-text.tsx';
import type { Picked } from '../publish/pick.ts';
import { type PublishState, publishSession } from '../publish/publish-session.ts';
import { Section } from '../section.tsx';
import { TextField } from '../text-field.tsx';
import { paymentTexts } from '../texts/payment.ts';
import { localAnt, localEther, localInput, parseLocalAnt } from './local-amounts.ts';
import { OtherChain } from './network-fields.tsx';
import { type Connected, usePayment } from './use-payment.ts';
import { useWallets, type Wallet } from './wallets.ts';

type Priced = Extract<PublishState, { step: 'priced' }>;

/** Shows what an upload costs, and pays with a wallet. */
export default function PriceSection({ state }: { state: Priced }) {
  const { picked, price, options } = state;
  const { bill, address, records } = price;
  const { chain } = options.network;
  const due = { address, name: options.isPrivate ? '' : picked.name, records, bill, chain };
  const payment = usePayment(
    due,
    (paid) => publishSession.upload(paid),
    (isPaying) => publishSession.setPaying(isPaying),
  );
  const { connected, wait, problem } = payment;
  const batched = bill.due.batches.reduce((sum, { chunks }) => sum + chunks.length, 0);
  const isDue = bill.dueRecords > 0;
  const t = paymentTexts();
  // The focused button went away with the step before.
  useEffect(() => {
    const isLost = !document.activeElement || document.activeElement === document.body;
    if (isLost) document.getElementById('price-heading')?.focus({ preventScroll: true });
  }, [connected]);
  return (
    <Section id="price" title={t.priceTitle}>
      {!isNetworkChain(chain) && <OtherChain chain={chain} />}
      {bill.unseen > 0 && <p class="notice-strong">{t.unseen(formatChunks(bill.unseen))}</p>}
      {isDue && <p class="price-total">{(batched > 0 ? t.mostTotal : t.total)(localAnt(bill.amount))}</p>}
      <p class="note">{t.records(formatChunks(bill.records), bill.stored, bill.paid)}</p>
      {batched > 0 && <p class="note">{t.batched(formatChunks(batched), bill.due.batches.length)}</p>}
      {isDue && <p class="note">{t.once}</p>}
      <FileShares picked={picked} amount={bill.amount} />
      {connected ? (
        <PayForm
          key={String(connected.amount)}
          connected={connected}
          isWaiting={wait !== null}
          onPay={payment.pay}
          onForget={payment.forget}
          onOther={payment.disconnect}
        />
      ) : (
        <Wallets isWaiting={wait !== null} onConnect={payment.connect} />
      )}
      <p class="note" role="status">
        {wait && t[wait]}
        {payment.isStopped && t.stopped}
      </p>
      <p class="note note-problem" role="alert">
        {problem && <ProblemText problem={problem} />}
      </p>
      <p class="actions">
        {wait ? (
          <Button key="stop" look="quiet" isSmall onClick={payment.stop}>
            {t.stop}
          </Button>
        ) : (
          <Button key="back" look="quiet" isSmall onClick={() => publishSession.backToChoice()}>
            {t.back}
          </Button>
        )}
      </p>
    </Section>
  );
}

const shownFiles = 100;

/** The share of each file in the price, the largest ones first. */
function FileShares({ picked, amount }: { picked: Picked; amount: bigint }) {
  const { files, bytes, isFolder } = picked;
  const t = paymentTexts();
  if (!isFolder || amount === 0n) return null;
  const sorted = files.toSorted((a, b) => b.file.size - a.file.size);
  const share = (size: number) => (amount * BigInt(size)) / BigInt(Math.max(bytes, 1));
  return (
    <details class="file-shares">
      <summary>{t.perFile(formatCount(files.length))}</summary>
      <p class="note">{t.perFileNote}</p>
      <ul>
        {sorted.slice(0, shownFiles).map(({ path, file }) => (
          <li key={path}>
            <span>{path}</span> <span class="label">{localAnt(rounded(share(file.size)))}</span>
          </li>
        ))}
        {sorted.length > shownFiles && <li>{t.perFileMore(formatCount(sorted.length - shownFiles))}</li>}
      </ul>
    </details>
  );
}

/** To six decimals: more would only look exact. */
function rounded(atto: bigint): bigint {
  const unit = 10n ** 12n;
  return ((atto + unit / 2n) / unit) * unit;
}

function Wallets({ isWaiting, onConnect }: { isWaiting: boolean; onConnect: (wallet: Wallet) => void }) {
  const wallets = useWallets();
  const t = paymentTexts();
  if (wallets.length === 0) return <p class="notice-strong">{t.noWallet}</p>;
  return (
    <fieldset class="choice wallets">
      <legend>{t.walletsTitle}</legend>
      {wallets.map((wallet) => (
        <Button
          key={wallet.id}
          look="quiet"
          aria-disabled={isWaiting}
          onClick={() => !isWaiting && onConnect(wallet)}
        >
          {wallet.icon && <img src={wallet.icon} alt="" width={20} height={20} />}
          {t.connect(wallet.name || t.anyWallet)}
        </Button>
      ))}
    </fieldset>
  );
}

interface PayFormProps {
  connected: Connected;
  isWaiting: boolean;
  onPay: (limit: bigint) => void;
  onForget: () => void;
  onOther: () => void;
}

function PayForm({ connected, isWaiting, onPay, onForget, onOther }: PayFormProps) {
  const { account, amount, balance, fees, waiting } = connected;
  const [limit, setLimit] = useState(() => localInput(amount));
  const [problem, setProblem] = useState<string | null>(null);
  const t = paymentTexts();

  function submit() {
    const most = parseLocalAnt(limit);
    const wrong = most === undefined ? t.badLimit : most < amount ? t.belowLimit : null;
    setProblem(wrong);
    if (wrong !== null) document.getElementById('pay-limit')?.focus();
    else onPay(most!);
  }

  return (
    <form
      class="pay-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWaiting) submit();
      }}
    >
      <dl class="figures">
        <dt>{t.account}</dt>
        <dd class="address">{account.address}</dd>
        <dt>{t.balance}</dt>
        <dd>{localAnt(balance)}</dd>
        <dt>{t.fees}</dt>
        <dd>{localEther(rounded(fees))}</dd>
      </dl>
      {waiting && (
        <p class="notice-strong">
          {t.waiting(waiting.account)}{' '}
          <Button look="link" onClick={onForget}>
            {t.forget}
          </Button>
        </p>
      )}
      <TextField
        id="pay-limit"
        label={t.limit}
        inputMode="decimal"
        value={limit}
        isBad={problem !== null}
        describedBy="pay-limit-problem"
        onInput={(text) => {
          setLimit(text);
          setProblem(null);
        }}
      />
      <p id="pay-limit-problem" class="note note-problem" role="alert">
        {problem}
      </p>
      <p class="actions">
        <Button type="submit" aria-disabled={isWaiting}>
          {t.pay(localAnt(amount))}
        </Button>
        {!isWaiting && (
          <Button look="quiet" onClick={onOther}>
            {t.otherWallet}
          </Button>
        )}
      </p>
    </form>
  );
}
