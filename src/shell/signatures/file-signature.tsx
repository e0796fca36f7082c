import { useEffect, useState } from 'preact/hooks';
import { type Address, shortAddress } from '../../address.ts';
import type { SignatureCheck } from '../../content/signed-archive.ts';
import { isAbort } from '../../errors.ts';
import { type NameBook, written } from '../../names/name-book.ts';
import { Button } from '../button.tsx';
import { Icon } from '../icons.tsx';
import { useNames } from '../names/names-store.ts';
import { signatureTexts } from '../texts/signatures.ts';
import type { Signatures } from './open-signatures.ts';

/** A larger file is read only if the user wants it, in bytes. */
const mostUnaskedBytes = 4 * 1024 * 1024;

interface Props {
  signatures: Signatures;
  /** In the archive, decoded. */
  path: string;
  name: string;
  /** Whether a small file is checked without a click. */
  isUnasked: boolean;
}

type State = SignatureCheck | { state: 'waiting' | 'checking' | 'failed' };

/** The signature of the file that opens at a path. Only a valid signature shows a key or a name. */
export function FileSignature({ signatures, path, name, isUnasked }: Props) {
  const t = signatureTexts();
  const [check, setCheck] = useState<State>({ state: 'waiting' });
  /** Each click starts another check. */
  const [asked, setAsked] = useState(0);
  const { book } = useNames();
  useEffect(() => {
    const size = signatures.sizeAt(path) ?? 0;
    if (asked === 0 && (!isUnasked || size > mostUnaskedBytes)) return setCheck({ state: 'waiting' });
    const stop = new AbortController();
    setCheck({ state: 'checking' });
    signatures.check(path, stop.signal).then(setCheck, (error) => {
      if (isAbort(error, stop.signal)) return;
      console.warn('antway: a signature could not be checked', error);
      setCheck({ state: 'failed' });
    });
    return () => stop.abort();
  }, [signatures, path, isUnasked, asked]);
  const ask = (text: string) => (
    <Button look="link" aria-label={t.check(name)} onClick={() => setAsked(asked + 1)}>
      {text}
    </Button>
  );
  switch (check.state) {
    case 'valid': {
      const { hex } = check.signer;
      return (
        <span class="file-signature signature-valid" title={t.key(hex)}>
          <Icon name="shield" size={14} /> <bdi>{t.signedBy(nameOf(check.signer, signatures, book))}</bdi>
        </span>
      );
    }
    case 'invalid':
      return (
        <strong class="file-signature note-problem">
          <Icon name="warning" size={14} /> {t.invalid}
        </strong>
      );
    case 'failed':
      return (
        <span class="file-signature note-problem">
          {t.failed} {ask(t.again)}
        </span>
      );
    case 'waiting':
      return <span class="file-signature">{ask(t.checkShort)}</span>;
    default:
      return <span class="file-signature note">{plainTexts()[check.state]}</span>;
  }
}

function plainTexts() {
  const { unsigned, checking, noKey } = signatureTexts();
  return { unsigned, checking, 'no-key': noKey };
}

/** Hosts and owners of lists could give their own keys any name, so only the user's own names count. */
function nameOf({ hex }: Address, { owned }: Signatures, book: NameBook): string {
  const label = owned.get(hex);
  const own = book.namesOf(hex).find(({ source }) => source.kind === 'own');
  const short = shortAddress(hex);
  if (label !== undefined) return `${signatureTexts().you(label)}, ${short}`;
  return own ? `${written(own)}, ${short}` : short;
}
