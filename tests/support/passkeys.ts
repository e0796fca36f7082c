import type { Page } from '@playwright/test';

/** An authenticator of one tab. It confirms everything, unless a test says otherwise. */
export interface Authenticator {
  /** The passkeys in it. */
  credentials(): Promise<{ rpId?: string; userName?: string }[]>;
  remove(): Promise<void>;
  /** Moves its passkeys to a new authenticator of the tab, which has no PRF. */
  loseThePrf(): Promise<void>;
  /** Whether the user is who the authenticator expects, such as by a fingerprint. */
  setUserVerified(isUserVerified: boolean): Promise<void>;
  /** Whether the user confirms at once, or never. */
  setPresent(enabled: boolean): Promise<void>;
}

export async function addAuthenticator(page: Page, { hasPrf = true } = {}): Promise<Authenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const options = (hasPrf: boolean) => ({
    ...({ protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal' } as const),
    ...{ hasPrf, hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    automaticPresenceSimulation: true,
  });
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: options(hasPrf),
  });
  return {
    async credentials() {
      return (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    },
    async remove() {
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
    async loseThePrf() {
      const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
      const without = await session.send('WebAuthn.addVirtualAuthenticator', { options: options(false) });
      for (const credential of credentials) {
        await session.send('WebAuthn.addCredential', { ...without, credential });
      }
    },
    async setUserVerified(isUserVerified) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    async setPresent(enabled) {
      await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
  };
}

/** The encryption of a key by a passkey, as the shell has stored it. All bytes are in hex. */
export interface StoredPasskey {
  credential: string;
  salt: string;
  nonce: string;
  wrapped: string;
}

export function storedPasskey(shell: Page, address: string): Promise<StoredPasskey> {
  return shell.evaluate(async (address) => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const database = await done(indexedDB.open('antway-owner'));
    const { passkey } = await done(database.transaction('keys').objectStore('keys').get(address));
    database.close();
    return {
      credential: hex(passkey.credential),
      salt: hex(passkey.salt),
      nonce: hex(passkey.nonce),
      wrapped: hex(passkey.wrapped),
    };
  }, address);
}

/** Asks for the passkey, as any script of the page can. @returns the output of its PRF in hex, or the error. */
export function askForPrf(page: Page, { credential, salt }: StoredPasskey): Promise<string> {
  return page.evaluate(
    async ({ credential, salt }) => {
      const bytes = (hex: string) => Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
      try {
        const got = (await navigator.credentials.get({
          publicKey: {
            challenge: new Uint8Array(32),
            rpId: 'antway.localhost',
            userVerification: 'required',
            allowCredentials: [{ type: 'public-key', id: bytes(credential) }],
            extensions: { prf: { eval: { first: bytes(salt) } } },
          },
        })) as PublicKeyCredential;
        const output = got.getClientExtensionResults().prf!.results!.first as ArrayBuffer;
        return [...new Uint8Array(output)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      } catch (error) {
        return `${(error as Error).name}: ${(error as Error).message}`;
      }
    },
    { credential, salt },
  );
}

/**
 * Decrypts a stored key by the steps of docs/reference/formats.md, with the device key in the page's own database.
 * @returns the seed in hex; `no device key` if the database has none; `no key` if the bytes do not decrypt.
 */
export function decryptSeed(
  page: Page,
  input: { stored: StoredPasskey; prf: string; address: string },
): Promise<string> {
  return page.evaluate(async ({ stored, prf, address }) => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const bytes = (hex: string) => Uint8Array.from(hex.match(/../g)!, (byte) => Number.parseInt(byte, 16));
    const text = (string: string) => new TextEncoder().encode(string);
    const { subtle } = crypto;
    const database = await done(indexedDB.open('antway-owner'));
    const hasStore = database.objectStoreNames.contains('keys');
    const device: CryptoKey | undefined =
      hasStore && (await done(database.transaction('keys').objectStore('keys').get('device')));
    database.close();
    if (!device) return 'no device key';
    const salt = await subtle.sign(
      'HMAC',
      device,
      new Uint8Array([...text('antway passkey 1 '), ...bytes(stored.salt)]),
    );
    const context = text(`antway owner key by passkey 1 ${address} ${stored.credential}`);
    const master = await subtle.importKey('raw', bytes(prf), 'HKDF', false, ['deriveKey']);
    const hkdf = { name: 'HKDF', hash: 'SHA-256', salt, info: context };
    const key = await subtle.deriveKey(hkdf, master, { name: 'AES-GCM', length: 256 }, false, ['decrypt']);
    const cipher = { name: 'AES-GCM', iv: bytes(stored.nonce), additionalData: context };
    try {
      const seed = await subtle.decrypt(cipher, key, bytes(stored.wrapped));
      return [...new Uint8Array(seed)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    } catch {
      return 'no key';
    }
  }, input);
}
