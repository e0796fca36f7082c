import type { Attempt, ErrorCode } from '../../../errors.ts';
import type { Language } from '../../../languages.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** All texts of the pages that the gateway generates. A count comes as a number and as a formatted string. */
export interface PageTexts {
  language: Language;
  /** The title for each error code, for users. */
  errors: Record<ErrorCode, string>;
  /** One sentence for each error code. */
  abouts: Record<ErrorCode, string>;
  /** The sentence if a site does not have a file. */
  missing: (path: string) => string;
  saving: { title: string; save: string };
  opening: { title: string; open: string };
  siteStart: string;
  /** The summary of a list of files: of a folder, or of the whole site (empty). */
  filesOf: (folder: string) => string;
  details: string;
  /** Shown if the operators of the peers have blocked the address, and not this gateway. */
  deniedByPeers: { title: string; about: string };
  /** Shown if some peers answered that they do not have it, and others, or the network's nodes, did not answer. */
  absentSomewhere: { title: string; about: string };
  code: string;
  address: string;
  opensByItself: string;
  tryAgain: string;
  backTo: (host: string) => string;
  openAnother: string;

  noneStored: string;
  /** How many chunks are stored: of the content (null), of the whole site, or of the file at a path. */
  stored: (what: null | 'site' | { path: string }, stored: number, total: number | null) => string;

  attempts: { caption: string; peer: string; how: string; result: string; time: string };
  stages: Record<Attempt['stage'], string>;

  progress: {
    title: string;
    about: string;
    /** Before and after the number of seconds. */
    waited: [string, string];
    usual: string;
    /** Before the list of peers. */
    peers: string;
    cancel: string;
  };
  network: {
    connected: (name: string, nodes: number | null) => string;
    notConnected: (name: string, isConnecting: boolean) => string;
    /** No peer is a client of a network. */
    none: string;
    /** A peer on its own: it has no network, is silent, or is AntTP or antd. */
    store: string;
    silent: string;
    noAnswer: string;
    blocks: string;
    program: string;
    addPeer: string;
    /** A link, and the text after it. */
    connectAntTp: [string, string];
    /** Before a command. */
    run: string;
    /** Before the list of networks, if a peer is connected to one, and the lookup was complete or not. */
    searched: string;
    incomplete: string;
    /** The same, if no peer is connected. */
    notSearched: string;
  };

  /** The link to report a site to the host. */
  report: string;

  contentsOf: (name: string) => string;
  folders: (count: number, written: string) => string;
  files: (count: number, written: string) => string;
  asJson: string;
  asTar: string;
  inApp: string;
  name: string;
  size: string;
  up: string;
  notServed: string;
  refused: (count: number, written: string) => string;
  andMore: (count: number) => string;

  firstVisit: {
    title: string;
    heading: string;
    about: string;
    restrict: string;
    /** The consequence of the button, for users who do not know what scripts are. */
    restrictMeans: string;
    trust: string;
    trustMeans: string;
    remembered: string;
    change: string;
    /** Added if the address belongs to a pointer. */
    pointer: string;
    /** Shown if the previous form had an expired token. */
    outdated: string;
  };
  confirmTrust: {
    heading: string;
    about: string;
    trust: string;
    pointer: string;
    version: string;
    owner: string;
  };
}

const catalogues: Record<Language, PageTexts> = { en, de };

export function textsIn(language: Language): PageTexts {
  return catalogues[language];
}
