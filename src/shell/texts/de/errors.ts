import { de as pages } from '../../../gateway/pages/texts/de.ts';
import type { PaymentProblem } from '../../../payment/errors.ts';
import type { Texts } from '../en/index.ts';

/** Before the payment error's own message. Each text has to be true for all errors of its code. */
const payments: Record<PaymentProblem, string> = {
  ACCOUNT: 'Das ist ein anderes Konto',
  ALLOWANCE: 'Die Freigabe wurde in der Wallet geändert. Nichts wurde bezahlt',
  CHAIN: 'Eine andere Kette, andere Verträge oder keine bezahlten Uploads',
  CHANGED: 'Seit der Frage nach dem Preis hat sich etwas geändert',
  CLOCK:
    'Die Uhr dieses Geräts geht falsch. Nichts wurde bezahlt. Stellen Sie die Uhr, und fragen Sie noch einmal nach dem Preis',
  FEES: 'Die Gebühren der Kette sind viel höher als angezeigt',
  FUNDS: 'Das Konto hat zu wenig ANT oder Ether. Nichts wurde bezahlt',
  NOT_STORED: 'Noch nicht alles ist gespeichert. Die Zahlung ist vermerkt',
  OLD_RELAY: 'Der Peer ist veraltet und liest keine Adressen aus dem Netzwerk. Er muss aktualisiert werden',
  OUTDATED:
    'Das Netzwerk hat einen neueren Stand, den ein anderes Gerät signiert hat. Nehmen Sie die Änderung noch einmal vor',
  OVER_LIMIT: 'Der Preis liegt über Ihrer Grenze',
  PENDING: 'Die Kette hat die Zahlung noch nicht bestätigt',
  QUOTE: 'Das Preisangebot ist ungültig. Nichts wurde bezahlt',
  QUOTE_EXPIRED:
    'Die Knoten nehmen die Zahlung nicht an. Vielleicht fehlen bezahlte Knoten gerade: Versuchen Sie es später noch einmal. Eine Zahlung für viele Chunks verfällt nach sieben Tagen: Fragen Sie dann noch einmal nach dem Preis',
  REJECTED: 'In der Wallet abgelehnt. Nichts wurde bezahlt',
  RELAYS_DIFFER: 'Zwei Wege ins Netzwerk widersprechen einander. Nichts wurde bezahlt',
  REVERTED: 'Die Kette hat die Zahlung nicht ausgeführt',
  RPC: 'Die Wallet antwortet nicht richtig',
  SHORTFALL: 'Kein Peer oder zu wenige Knoten haben geantwortet',
  UNPAID: 'Die Knoten sehen die Zahlung noch nicht. Versuchen Sie es später noch einmal',
};

/** German: texts for error codes. The shell shows them before the worker's own message, which is English. */
export const errors: Texts['errors'] = {
  ...pages.errors,
  ...payments,
  UNANSWERED: 'Das Gateway antwortet nicht',
};
