import { isNetworkChain } from '../../payment/chain.ts';
import { formatChunks, formatCount } from '../format.ts';
import type { Picked } from '../publish/pick.ts';
import { type PublishState, publishSession } from '../publish/publish-session.ts';
import { Section } from '../section.tsx';
import { paymentTexts } from '../texts/payment.ts';
import { localAnt, roundedAmount } from './local-amounts.ts';
import { OtherChain } from './network-fields.tsx';
import { PaySteps } from './pay-steps.tsx';
import { usePayment } from './use-payment.ts';

type Priced = Extract<PublishState, { step: 'priced' }>;

/** Shows what an upload costs, and pays with a wallet. */
export default function PriceSection({ state }: { state: Priced }) {
  const { picked, price, options } = state;
  const { bill, address, records } = price;
  const { chain } = options.network;
  const upload = { address, name: options.isPrivate ? '' : picked.name, records: [...records] };
  const payment = usePayment(
    { upload, bill, chain },
    (paid) => publishSession.upload(paid),
    (isPaying) => publishSession.setPaying(isPaying),
  );
  const batched = bill.due.batches.reduce((sum, { chunks }) => sum + chunks.length, 0);
  const isDue = bill.dueRecords > 0;
  const t = paymentTexts();
  return (
    <Section id="price" title={t.priceTitle}>
      {!isNetworkChain(chain) && <OtherChain chain={chain} />}
      {bill.unseen > 0 && <p class="notice-strong">{t.unseen(formatChunks(bill.unseen))}</p>}
      {isDue && <p class="price-total">{(batched > 0 ? t.mostTotal : t.total)(localAnt(bill.amount))}</p>}
      <p class="note">{t.records(formatChunks(bill.records), bill.stored, bill.paid)}</p>
      {batched > 0 && <p class="note">{t.batched(formatChunks(batched), bill.due.batches.length)}</p>}
      {bill.unconfirmedNodes > 0 && <p class="note">{t.unconfirmed(bill.unconfirmedNodes)}</p>}
      {isDue && <p class="note">{t.once}</p>}
      <FileShares picked={picked} amount={bill.amount} />
      <PaySteps payment={payment} headingId="price-heading" onBack={() => publishSession.backToChoice()} />
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
            <span>{path}</span> <span class="label">{localAnt(roundedAmount(share(file.size)))}</span>
          </li>
        ))}
        {sorted.length > shownFiles && <li>{t.perFileMore(formatCount(sorted.length - shownFiles))}</li>}
      </ul>
    </details>
  );
}
