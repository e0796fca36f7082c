import { de as pages } from '../../../gateway/pages/texts/de.ts';
import type { Texts } from '../en/index.ts';

/** German: texts for error codes. The shell shows them before the worker's own message, which is English. */
export const errors: Texts['errors'] = {
  ...pages.errors,
  UNANSWERED: 'Das Gateway antwortet nicht',
  // Payments.
  ACCOUNT: 'Das ist ein anderes Konto',
  CHAIN: 'Eine andere Kette oder andere Verträge',
  CHANGED: 'Seit der Frage nach dem Preis hat sich etwas geändert',
  CLOCK: 'Die Uhr dieses Geräts geht falsch. Nichts wurde bezahlt',
  FUNDS: 'Das Konto hat zu wenig',
  NOT_STORED: 'Noch nicht alles ist gespeichert. Die Zahlung ist vermerkt',
  OLD_RELAY: 'Der Peer ist veraltet und liest keine Adressen aus dem Netzwerk. Er muss aktualisiert werden',
  OVER_LIMIT: 'Der Preis liegt über Ihrer Grenze',
  PENDING: 'Die Kette hat die Zahlung noch nicht bestätigt',
  QUOTE: 'Der Preis ist nicht echt. Nichts wurde bezahlt',
  QUOTE_EXPIRED: 'Der bezahlte Knoten ist gerade nicht zuständig. Die Zahlung ist vermerkt',
  REJECTED: 'In der Wallet abgelehnt. Nichts wurde bezahlt',
  RELAYS_DIFFER: 'Die Peers widersprechen einander. Nichts wurde bezahlt',
  REVERTED: 'Die Kette hat die Zahlung nicht ausgeführt',
  RPC: 'Die Wallet antwortet nicht richtig',
  SHORTFALL: 'Zu wenige Knoten haben geantwortet',
  UNPAID: 'Die Knoten sehen die Zahlung noch nicht',
};
