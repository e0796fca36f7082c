import { useState } from 'preact/hooks';
import { receiptOf } from '../../payment/receipt.ts';
import { Button } from '../button.tsx';
import { asGatewayApiError, type GatewayApiError } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import type { NetworkResult } from '../publish/publish-session.ts';
import { saveAs } from '../save-as.ts';
import { paymentTexts } from '../texts/payment.ts';
import { openJournal } from './journal-database.ts';
import { localAnt, localEther } from './local-amounts.ts';

/** The cost of an upload to the network, or of a state of a pointer, and its receipt. */
export default function Paid({ address, network }: { address: string; network: NetworkResult }) {
  const [problem, setProblem] = useState<GatewayApiError | null>(null);
  const { chain, amount, fees, records } = network;
  const t = paymentTexts();

  async function save() {
    try {
      const receipt = await receiptOf(address, records, { chain, journal: openJournal(chain), fees });
      saveAs(new Blob([receipt], { type: 'application/json' }), `antway-receipt-${address.slice(0, 8)}.json`);
      setProblem(null);
    } catch (error) {
      setProblem(asGatewayApiError(error));
    }
  }

  return (
    <>
      <p class="note">{t.receiptNote(localAnt(amount), localEther(fees))}</p>
      <p class="actions">
        <Button look="quiet" isSmall onClick={save}>
          {t.receipt}
        </Button>
      </p>
      <p class="note note-problem" role="alert">
        {problem && <ProblemText problem={problem} />}
      </p>
    </>
  );
}
