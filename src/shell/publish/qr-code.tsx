import { encode } from 'uqr';
import { texts } from '../texts/texts.ts';

/** What a QR code of the lowest correction holds of bytes, and phones still read from a screen. */
const mostBytes = 1_200;
/** Modules of white around it, as the standard asks. */
const border = 4;

/** A link for a phone's camera: dark on light in any theme, since not all readers take it inverted. */
export default function QrCode({ link }: { link: string }) {
  if (new TextEncoder().encode(link).length > mostBytes) return <p class="note">{texts.publish.qrTooLong}</p>;
  const { data, size } = encode(link, { ecc: 'L', border });
  let path = '';
  for (const [y, row] of data.entries()) {
    for (const [x, isDark] of row.entries()) if (isDark) path += `M${x} ${y}h1v1h-1z`;
  }
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={texts.publish.qr}>
      <rect class="qr-ground" width={size} height={size} />
      <path class="qr-code" d={path} />
    </svg>
  );
}
