import type { Attempt, ErrorCode } from '../../../errors.ts';
import type { Language } from '../../../languages.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** Everything that the pages say which the gateway makes itself. Counts come as numbers and as they are written. */
export interface PageTexts {
  language: Language;
  /** What each code means to a user. */
  errors: Record<ErrorCode, string>;
  /** What can be said of a code in this language, where the errors’ own messages are in another. */
  abouts: Partial<Record<ErrorCode, string>>;
  code: string;
  address: string;
  opensByItself: string;
  tryAgain: string;
  backTo: (host: string) => string;
  openAnother: string;

  nothingKept: string;
  /** How much of something is kept: of “it” (null), of the whole site, or of the file at a path. */
  kept: (what: null | 'site' | { path: string }, stored: number, total: number | null) => string;

  attempts: { caption: string; peer: string; how: string; result: string; time: string };
  stages: Record<Attempt['stage'], string>;

  contentsOf: (name: string) => string;
  folders: (count: number, written: string) => string;
  files: (count: number, written: string) => string;
  asJson: string;
  asTar: string;
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
    /** What comes of it, for a user who does not know what scripts are. */
    restrictMeans: string;
    trust: string;
    trustMeans: string;
    remembered: string;
    change: string;
    /** Added where the address is a pointer's. */
    pointer: string;
    /** Said when an answer came too late. */
    outdated: string;
  };
  /** The second step to trust in a site. */
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
