/** The block chain of the payments. Addresses are `0x` and 40 lower-case hex digits. */
export interface PaymentChain {
  chainId: number;
  /** The contract of the token. */
  token: string;
  /** The contract that takes the payments. */
  vault: string;
}

/** The chain of the Autonomi network, from its crate `evmlib` 0.10. */
export const arbitrumOne: PaymentChain = {
  chainId: 42161,
  token: '0xa78d8321b20c4ef90ecd72f2588aa985a4bdb684',
  vault: '0x9a3ecac693b699fc0b2b6a50b5549e50c2320a26',
};

/** The ids of chains whose coins are free: those of local development, and Arbitrum Sepolia. */
const testChainIds = new Set([1337, 31337, 421614]);

/** Whether payments there cost nothing of value. */
export function isTestChain({ chainId }: PaymentChain): boolean {
  return testChainIds.has(chainId);
}

/** Whether nodes of the real network accept payments there. */
export function isNetworkChain(chain: PaymentChain): boolean {
  return isSameChain(chain, arbitrumOne);
}

export function isSameChain(a: PaymentChain, b: PaymentChain): boolean {
  return a.chainId === b.chainId && a.token === b.token && a.vault === b.vault;
}

/** @param text `<id>,<token>,<vault>`. @returns undefined for any other text. */
export function parseChain(text: string): PaymentChain | undefined {
  const [, id, token, vault] =
    /^(\d{1,15}),(0x[0-9a-f]{40}),(0x[0-9a-f]{40})$/.exec(text.toLowerCase()) ?? [];
  return id === undefined ? undefined : { chainId: Number(id), token: token!, vault: vault! };
}
