import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { manifestOfLink } from '../../content/manifest.ts';
import { Button } from '../button.tsx';
import { openContent } from '../content-link.tsx';
import { asGatewayApiError, GatewayApiError, gateway } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { ReaderOffer } from '../readers/reader-link.tsx';
import { forgetIncoming, type Route } from '../route.ts';
import { texts } from '../texts/texts.ts';
import { useDrop } from '../use-drop.ts';
import { parseAddressInput } from './address-input.ts';
import type { FindSource } from './find/collect.ts';
import { isFile, useLaunchedFiles, usePaste } from './incoming-files.ts';
import { type BroughtManifest, ManifestQuestion } from './manifest-question.tsx';
import { openManifest } from './open-manifest.ts';
import { SearchBox } from './search-box.tsx';

interface Props {
  /** Everything that the input finds. */
  source: Omit<FindSource, 'files'>;
  route: Route;
  /** Whether the gateway runs. Before that, input from outside the page cannot be opened. */
  isReady: boolean;
}

interface KeepOptions {
  /** As of `openManifest`. */
  path?: string | undefined;
  isReplacing?: boolean | undefined;
  asFailure?: (error: unknown) => GatewayApiError;
}

/** The error of a manifest that a link contains. The link has all of it, so no peer is the reason. */
function linkFailure(error: unknown): GatewayApiError {
  const failure = asGatewayApiError(error);
  if (failure.code !== 'CORRUPT' && failure.code !== 'BAD_ADDRESS') return failure;
  return new GatewayApiError('BAD_ADDRESS', texts.open.problems.brokenLink, { isTranslated: true });
}

/** The input for everything, and the ways around it. Opens typed, chosen, dropped or received input, or says why it cannot. */
export function AddressForm({ source, route: { manifest, incoming }, isReady }: Props) {
  const { names } = source;
  const input = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  /** Problems are shown only after the first attempt, so that they do not disturb the user while typing. */
  const [wasTried, setWasTried] = useState(false);
  const [failure, setFailure] = useState<GatewayApiError | null>(null);
  const [isReading, setIsReading] = useState(false);
  /** A manifest from a link. It is stored only if the user agrees. */
  const [brought, setBrought] = useState<(BroughtManifest & { open: () => void }) | null>(null);
  const parsed = useMemo(() => parse(text), [text, names, texts]);
  const problem = wasTried && 'problem' in parsed ? parsed.problem : null;
  const isBad = failure !== null || problem !== null;
  const isOver = useDrop(['Files', 'text/uri-list', 'text/plain'], take);
  usePaste(take);

  function parse(newText: string) {
    return parseAddressInput(newText, { names, origin: location.origin });
  }

  function change(newText: string) {
    setText(newText);
    setFailure(null);
    setBrought(null);
    if (newText === '') setWasTried(false);
  }

  function open(input: ReturnType<typeof parse>, isReplacing = false) {
    if ('path' in input) openContent(input.path, isReplacing);
    else if ('manifestLink' in input)
      keepAndOpen(() => new Blob([manifestOfLink(input.manifestLink)]), { asFailure: linkFailure });
    else refuse();
  }

  /** Opens a manifest from a link. Any page can link here, so this asks the user before it stores a new manifest. */
  async function askAndOpen(link: string, path?: string, isReplacing?: boolean) {
    setFailure(null);
    setIsReading(true);
    try {
      const bytes = manifestOfLink(link);
      const { isStored, name, entries } = await gateway.checkManifest(bytes);
      const open = () => {
        setBrought(null);
        return keepAndOpen(() => new Blob([bytes]), { path, isReplacing });
      };
      if (isStored) await open();
      else setBrought({ name, entries, open });
    } catch (error) {
      setFailure(linkFailure(error));
    }
    setIsReading(false);
  }

  function refuseBrought() {
    change('');
    forgetIncoming();
    // Make `useRoute` read the URL again.
    window.dispatchEvent(new PopStateEvent('popstate'));
    input.current?.focus();
  }

  function refuse() {
    setWasTried(true);
    input.current?.focus();
  }

  async function keepAndOpen(
    manifest: () => Blob,
    { path, isReplacing, asFailure = asGatewayApiError }: KeepOptions = {},
  ) {
    setFailure(null);
    setIsReading(true);
    try {
      await openManifest(manifest(), path, isReplacing);
    } catch (error) {
      setFailure(asFailure(error));
    }
    setIsReading(false);
  }

  // Handle a link from another program, a shared text, or a link with a manifest like pasted text.
  useEffect(() => {
    if (incoming) change(incoming.text);
  }, [incoming]);
  /** The input that was opened last. A page that becomes visible again becomes ready again, and must not reopen it. */
  const opened = useRef<Route['incoming'] | Route['manifest']>(undefined);
  const isNew = (what: typeof opened.current) => {
    if (!isReady || !what || opened.current === what) return false;
    opened.current = what;
    return true;
  };
  useEffect(() => {
    if (!incoming || !isNew(incoming)) return;
    forgetIncoming();
    const what = parse(incoming.text);
    if ('manifestLink' in what) void askAndOpen(what.manifestLink);
    // Security: the page that led here could count the entries of the history, and so find out which names the user has.
    else open(what, 'path' in what && what.isName);
  }, [isReady, incoming]);
  useEffect(() => {
    if (!manifest || !isNew(manifest)) return;
    change('');
    void askAndOpen(`ant://manifest/${manifest.text}`, manifest.path || '/', true);
  }, [isReady, manifest]);
  useLaunchedFiles((file) => {
    forgetIncoming();
    keepAndOpen(() => file);
  }, isReady);

  function choose(files: FileList | null) {
    const file = files?.[0];
    if (!file) return;
    change('');
    keepAndOpen(() => file);
  }

  function take(data: DataTransfer) {
    if (isFile(data)) {
      choose(data.files);
    } else {
      const given = (data.getData('text/uri-list') || data.getData('text/plain')).trim();
      change(given);
      open(parse(given));
    }
  }

  return (
    <form
      class="address-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        open(parsed);
      }}
    >
      <SearchBox
        input={input}
        text={text}
        parsed={parsed}
        isBad={isBad}
        source={source}
        isReady={isReady}
        onText={change}
        onOpenFile={() => picker.current?.click()}
      />
      {brought && <ManifestQuestion manifest={brought} onOpen={brought.open} onRefuse={refuseBrought} />}
      <div class="address-notes">
        <p id="address-note" class={isBad ? 'note note-problem' : 'note'} aria-live="polite">
          {isReading ? (
            texts.open.reading
          ) : failure ? (
            <ProblemText problem={failure} />
          ) : (
            (problem ?? (manifest ? texts.open.privateLink : <Hint />))
          )}
        </p>
        {'path' in parsed && <ReaderOffer path={parsed.path} />}
        <p class="note">
          <span id="file-note">{texts.open.fileNote}</span>{' '}
          <Button look="link" aria-describedby="file-note" onClick={() => picker.current?.click()}>
            {texts.open.openFile}
          </Button>
        </p>
        {/* Accepts every file: phones disable files with an unknown extension if the input lists types. */}
        <input
          ref={picker}
          type="file"
          hidden
          onChange={({ currentTarget }) => {
            choose(currentTarget.files);
            // Reset the value: otherwise, choosing the same file again causes no change event.
            currentTarget.value = '';
          }}
        />
      </div>
      {isOver && (
        <div class="drop-state" aria-hidden="true">
          <span>{texts.open.drop}</span>
        </div>
      )}
    </form>
  );
}

function Hint() {
  return (
    <>
      {texts.open.hint} <span class="key-hint">{texts.open.hintKey}</span>
    </>
  );
}
