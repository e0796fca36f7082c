import { useEffect, useId, useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { ProblemText } from '../problem-text.tsx';
import { TextField } from '../text-field.tsx';
import { paymentTexts } from '../texts/payment.ts';
import { localAnt, localEther, localInput, parseLocalAnt, roundedAmount } from './local-amounts.ts';
import type { Connected, usePayment } from './use-payment.ts';
import { useWallets, type Wallet } from './wallets.ts';

interface Props {
  payment: ReturnType<typeof usePayment>;
  /** The id of the heading above, which gets the focus when the focused button goes away. */
  headingId: string;
  /** The user does not pay. */
  onBack: () => void;
}

/** Lets the user connect a wallet, and then pay or go back. */
export function PaySteps({ payment, headingId, onBack }: Props) {
  const { connected, wait, problem } = payment;
  const t = paymentTexts();
  // The focused button went away with the step before.
  useEffect(() => {
    const isLost = !document.activeElement || document.activeElement === document.body;
    if (isLost) document.getElementById(headingId)?.focus({ preventScroll: true });
  }, [connected]);
  return (
    <>
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
          <Button key="back" look="quiet" isSmall onClick={onBack}>
            {t.back}
          </Button>
        )}
      </p>
    </>
  );
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
  const id = useId();
  const problemId = `${id}-problem`;
  const t = paymentTexts();

  function submit() {
    const most = parseLocalAnt(limit);
    const wrong = most === undefined ? t.badLimit : most < amount ? t.belowLimit : null;
    setProblem(wrong);
    if (wrong !== null) document.getElementById(id)?.focus();
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
        <dd>{localEther(roundedAmount(fees))}</dd>
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
        id={id}
        label={t.limit}
        inputMode="decimal"
        value={limit}
        isBad={problem !== null}
        describedBy={problemId}
        onInput={(text) => {
          setLimit(text);
          setProblem(null);
        }}
      />
      <p id={problemId} class="note note-problem" role="alert">
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
