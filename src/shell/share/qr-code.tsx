import { encode } from 'uqr';
import { shareTexts } from '../texts/share.ts';

/** The maximum link size in bytes that phones can still read from a screen, with the lowest error correction. */
const mostBytes = 1_200;
/** The white border in modules, as the standard requires. */
const border = 4;

/** A link as a QR code. It is dark on light in any theme, because some readers do not accept inverted codes. */
export default function QrCode({ link }: { link: string }) {
  if (new TextEncoder().encode(link).length > mostBytes) return <p class="note">{shareTexts().qrTooLong}</p>;
  const { data, size } = encode(link, { ecc: 'L', border });
  let path = '';
  for (const [y, row] of data.entries()) {
    for (const [x, isDark] of row.entries()) if (isDark) path += `M${x} ${y}h1v1h-1z`;
  }
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={shareTexts().qr}>
      <rect class="qr-ground" width={size} height={size} />
      <path class="qr-code" d={path} />
    </svg>
  );
}
