import { isAbort } from '../errors.ts';
import { base64Url } from '../util/base64-url.ts';
import { type ConfirmedPasskey, importPrf, type Passkey } from './passkey-wrapping.ts';
import { unlockFaultOf, unlockProblem } from './unlock-problem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The time for the user to confirm a passkey, as WebAuthn recommends for a verified user. */
const confirmMs = 300_000;

/** An authenticator computes two secrets: one for a verified user, and one for any. Only the first is used. */
const userVerification = 'required';

/** False if the browser says that it has no passkeys with a PRF. Otherwise the first use tells. */
export async function hasPasskeys(): Promise<boolean> {
  if (!('PublicKeyCredential' in globalThis)) return false;
  const capabilities = await PublicKeyCredential.getClientCapabilities?.().catch(() => undefined);
  return capabilities?.['extension:prf'] !== false;
}

/**
 * Makes a passkey of this host. Some authenticators ask the user twice.
 * @param name for the user, in the list of passkeys.
 * @throws AntwayError with a fault of `unlockFaultOf`: `refused`, `timeout` or `unsupported`; the reason of the signal.
 */
export async function createPasskey(name: string, signal: AbortSignal): Promise<ConfirmedPasskey> {
  const salt = random();
  const publicKey: PublicKeyCredentialCreationOptions = {
    rp: { id: location.hostname, name: 'Antway' },
    // A passkey with the id of another one would replace it.
    user: { id: random(), name, displayName: name },
    challenge: random(),
    pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
    // Some platforms have a PRF for discoverable passkeys only.
    authenticatorSelection: { residentKey: 'preferred', userVerification },
    extensions: { prf: { eval: { first: salt } } },
  };
  const created = await confirmed(
    (until) => navigator.credentials.create({ publicKey, signal: until }),
    signal,
  );
  const response = created.response as AuthenticatorAttestationResponse;
  const credential = new Uint8Array(created.rawId);
  const passkey = { credential, transports: response.getTransports?.() ?? [], salt };
  try {
    const { enabled, results } = created.getClientExtensionResults().prf ?? {};
    if (results?.first) return { ...passkey, prf: await importOutput(results.first) };
    if (!enabled) throw unlockProblem('unsupported');
    return { ...passkey, prf: await confirmPasskey(passkey, signal) };
  } catch (error) {
    await forgetPasskey(passkey);
    throw unlockFaultOf(error) === 'silent' ? unlockProblem('unsupported', error) : error;
  }
}

/**
 * Asks the user to confirm a passkey.
 * @returns the output of its PRF, as a key of HKDF.
 * @throws as `createPasskey`, but the fault is `silent` instead of `unsupported`: the passkey encrypts a key already.
 */
export async function confirmPasskey(
  { credential, transports, salt }: Passkey,
  signal: AbortSignal,
): Promise<CryptoKey> {
  const publicKey: PublicKeyCredentialRequestOptions = {
    rpId: location.hostname,
    // No server verifies the signature over it. The output of the PRF is what decrypts.
    challenge: random(),
    allowCredentials: [
      { type: 'public-key', id: credential, transports: transports as AuthenticatorTransport[] },
    ],
    userVerification,
    extensions: { prf: { eval: { first: salt } } },
  };
  try {
    const got = await confirmed((until) => navigator.credentials.get({ publicKey, signal: until }), signal);
    const first = got.getClientExtensionResults().prf?.results?.first;
    if (!first) throw unlockProblem('unsupported');
    return await importOutput(first);
  } catch (error) {
    throw unlockFaultOf(error) === 'unsupported' ? unlockProblem('silent', error) : error;
  }
}

/** Tells the browser that a passkey is of no use any more. Some password managers then delete it. */
export async function forgetPasskey({ credential }: Passkey): Promise<void> {
  const unknown = { rpId: location.hostname, credentialId: base64Url(credential) };
  // The user can delete the passkey as well.
  await globalThis.PublicKeyCredential?.signalUnknownCredential?.(unknown).catch(() => undefined);
}

async function confirmed(
  ask: (signal: AbortSignal) => Promise<Credential | null>,
  signal: AbortSignal,
): Promise<PublicKeyCredential> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), confirmMs);
  try {
    return (await ask(AbortSignal.any([signal, timeout.signal]))) as PublicKeyCredential;
  } catch (cause) {
    if (isAbort(cause, signal) && !timeout.signal.aborted) throw cause;
    if (timeout.signal.aborted) throw unlockProblem('timeout', cause);
    const { name } = cause as Error;
    if (name === 'NotAllowedError') throw unlockProblem('refused', cause);
    // No user verification, no algorithm, or a host without a domain.
    const isUnsupported = ['ConstraintError', 'NotSupportedError', 'SecurityError'].includes(name);
    throw isUnsupported ? unlockProblem('unsupported', cause) : cause;
  } finally {
    clearTimeout(timer);
  }
}

async function importOutput(first: BufferSource): Promise<CryptoKey> {
  const output = ArrayBuffer.isView(first)
    ? new Uint8Array(first.buffer as ArrayBuffer, first.byteOffset, first.byteLength)
    : new Uint8Array(first as ArrayBuffer);
  if (output.length !== 32) throw unlockProblem('unsupported');
  return importPrf(output);
}

function random(): Bytes {
  return crypto.getRandomValues(new Uint8Array(32));
}
