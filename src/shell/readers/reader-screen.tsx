import './readers.css';
import { useEffect, useState } from 'preact/hooks';
import { Address, shortAddress } from '../../address.ts';
import { isAbort } from '../../errors.ts';
import { asGatewayApiError, GatewayApiError, gateway } from '../gateway-api.ts';
import { ProblemText } from '../problem-text.tsx';
import { titleOf } from '../site-title.ts';
import { useResource } from '../use-resource.ts';
import { FileReader } from './file-reader.tsx';
import { FolderReader } from './folder/folder-reader.tsx';
import { Loading } from './loading.tsx';
import { nameOf, parseReaderFragment, type ReaderLocation, readerHref } from './location.ts';
import { noteReading } from './note-reading.ts';
import { type ReaderContent, readContent } from './read-content.ts';
import { ReaderHeading } from './reader-heading.tsx';
import { readerTexts } from './texts/texts.ts';

export interface ReaderScreenProps {
  /** The fragment of the URL, without its `#`. */
  fragment: string;
  /** Name → address. */
  names: ReadonlyMap<string, string>;
  /** Whether the gateway answers requests. */
  active: boolean;
  /** Whether the names are known. */
  isReady: boolean;
  /** Whether content has no URL on this origin. */
  isElsewhere: boolean;
}

/** A stranger's file or folder in the app. */
export default function ReaderScreen({ fragment, names, active, isReady, isElsewhere }: ReaderScreenProps) {
  const t = readerTexts();
  const location = parseReaderFragment(fragment);
  if (!location) return <Refusal message={t.badLocation} />;
  if (!Address.isHex(location.root) && !names.has(location.root)) {
    return isReady ? <Refusal message={t.unknownName(location.root)} /> : <Loading />;
  }
  return <Reader key={readerHref(location)} location={location} active={active} isElsewhere={isElsewhere} />;
}

interface ReaderProps {
  location: ReaderLocation;
  active: boolean;
  isElsewhere: boolean;
}

function Reader({ location, active, isElsewhere }: ReaderProps) {
  const t = readerTexts();
  const sites = useResource(gateway.sites, active);
  const { content, problem } = useContent(location, active);
  const isThere = content !== null;
  useEffect(() => {
    if (!isThere) return;
    const end = new AbortController();
    noteReading(location, end.signal).then(sites.refresh, (error) => {
      if (!isAbort(error, end.signal)) console.warn('antway: the visit was not noted', error);
    });
    return () => end.abort();
  }, [isThere]);
  const site = sites.value?.find(({ address, name }) => address === location.root || name === location.root);
  const fallback = Address.isHex(location.root) ? shortAddress(location.root) : location.root;
  const siteTitle = site ? titleOf(site) : fallback;
  const title = nameOf(location) || siteTitle;
  const heading = { location, title, site: siteTitle };
  if (problem) {
    const isUnanswered = isElsewhere && problem.code === 'UNANSWERED';
    return (
      <>
        <ReaderHeading {...heading} isThere={false} />
        <p class="note note-problem" role="alert">
          {isUnanswered ? t.ownHosts : <ProblemText problem={problem} />}
        </p>
      </>
    );
  }
  if (!content) {
    return (
      <>
        <ReaderHeading {...heading} isThere={false} />
        <Loading />
      </>
    );
  }
  if (content.kind === 'folder') return <FolderReader heading={heading} files={content.files} />;
  return <FileReader heading={heading} file={content} />;
}

function useContent(location: ReaderLocation, active: boolean) {
  const [content, setContent] = useState<ReaderContent | null>(null);
  const [problem, setProblem] = useState<GatewayApiError | null>(null);
  const href = readerHref(location);
  useEffect(() => {
    if (!active || content) return;
    const end = new AbortController();
    readContent(location, end.signal).then(
      (content) => {
        if (end.signal.aborted) return;
        setContent(content);
        setProblem(null);
      },
      (error) => {
        if (!isAbort(error, end.signal)) setProblem(asGatewayApiError(error));
      },
    );
    return () => end.abort();
  }, [href, active, content]);
  return { content, problem };
}

function Refusal({ message }: { message: string }) {
  const problem = new GatewayApiError('BAD_ADDRESS', message, { isTranslated: true });
  return (
    <p class="note note-problem" role="alert">
      <ProblemText problem={problem} />
    </p>
  );
}
