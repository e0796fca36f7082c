import { useEffect, useId, useState } from 'preact/hooks';
import { isNetworkChain } from '../../payment/chain.ts';
import type { Payment } from '../../payment/pay.ts';
import { askBeforeLeaving } from '../publish/publish-session.ts';
import { paymentTexts } from '../texts/payment.ts';
import { localAnt } from './local-amounts.ts';
import { OtherChain } from './network-fields.tsx';
import { PaySteps } from './pay-steps.tsx';
import type { PointerDue } from './pointer-network.ts';
import { usePayment } from './use-payment.ts';

interface Props {
  due: PointerDue;
  onPaid: (payment: Pick<Payment, 'amount' | 'fees'>) => void;
  onBack: () => void;
}

/** Shows what a new state of a pointer costs, and pays with a wallet. */
export function PointerPrice({ due, onPaid, onBack }: Props) {
  const [isPaying, setPaying] = useState(false);
  const payment = usePayment(due, onPaid, setPaying);
  const { bill, chain, missing } = due;
  const headingId = useId();
  const t = paymentTexts();
  useEffect(() => document.getElementById(headingId)?.focus(), []);
  useEffect(() => {
    if (!isPaying) return;
    window.addEventListener('beforeunload', askBeforeLeaving);
    return () => window.removeEventListener('beforeunload', askBeforeLeaving);
  }, [isPaying]);
  return (
    <section class="pointer-price" aria-labelledby={headingId}>
      <h3 id={headingId} tabIndex={-1}>
        {t.priceTitle}
      </h3>
      {!isNetworkChain(chain) && <OtherChain chain={chain} />}
      {bill.unseen > 0 && <p class="notice-strong">{t.unseen(t.newState)}</p>}
      {bill.dueRecords > 0 && (
        <>
          <p class="price-total">{t.total(localAnt(bill.amount))}</p>
          <p class="note">{t.pointerOnce}</p>
        </>
      )}
      {missing && <p class="notice-strong">{t.missingTarget(missing.hex)}</p>}
      <PaySteps payment={payment} headingId={headingId} onBack={onBack} />
    </section>
  );
}
