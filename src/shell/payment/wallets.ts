import { useEffect, useState } from 'preact/hooks';
import type { Provider } from '../../payment/vault.ts';
import { sanitizeText } from '../../util/sanitize-text.ts';

/** A wallet of this browser. */
export interface Wallet {
  id: string;
  /** Empty for a wallet that does not tell it. */
  name: string;
  /** A `data:` URL of a picture, or undefined. */
  icon: string | undefined;
  provider: Provider;
}

const mostNameCharacters = 40;
const mostIconCharacters = 200_000;

/** The wallets that announce themselves (EIP-6963), or the only one that older wallets put into `window.ethereum`. */
export function useWallets(): readonly Wallet[] {
  const [wallets, setWallets] = useState<readonly Wallet[]>([]);
  useEffect(() => {
    const onAnnounced = (event: Event) => {
      const wallet = walletOf((event as CustomEvent<unknown>).detail);
      if (wallet) setWallets((known) => [...known.filter(({ id }) => id !== wallet.id), wallet]);
    };
    addEventListener('eip6963:announceProvider', onAnnounced);
    dispatchEvent(new Event('eip6963:requestProvider'));
    return () => removeEventListener('eip6963:announceProvider', onAnnounced);
  }, []);
  const { ethereum } = window as { ethereum?: unknown };
  if (wallets.length > 0 || !isProvider(ethereum)) return wallets;
  return [{ id: 'ethereum', name: '', icon: undefined, provider: ethereum }];
}

function walletOf(detail: unknown): Wallet | undefined {
  const { info, provider } = (detail ?? {}) as {
    info?: { uuid?: unknown; name?: unknown; icon?: unknown };
    provider?: unknown;
  };
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string' || !isProvider(provider))
    return undefined;
  const icon = typeof info.icon === 'string' && isPicture(info.icon) ? info.icon : undefined;
  return { id: info.uuid, name: sanitizeText(info.name, mostNameCharacters), icon, provider };
}

function isProvider(value: unknown): value is Provider {
  return typeof (value as Provider | undefined)?.request === 'function';
}

function isPicture(url: string): boolean {
  return url.length <= mostIconCharacters && /^data:image\/(png|webp|jpeg|gif|svg\+xml)[;,]/.test(url);
}
