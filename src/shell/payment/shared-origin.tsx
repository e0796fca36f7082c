import { paymentTexts } from '../texts/payment.ts';

/** Why this gateway does not pay. */
export default function SharedOrigin() {
  return <p class="notice-strong">{paymentTexts().shared}</p>;
}
