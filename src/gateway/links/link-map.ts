/** Replaces the text from `start` up to `end`. Positions count bytes from the beginning of the document. */
export type OnEdit = (start: number, end: number, replacement: string) => void;

/** Finds the links of a document that arrives in pieces. One character of the text stands for one byte. */
export interface LinkScanner {
  write(text: string): void;
  end(): void;
  /** All edits before this position are known. */
  readonly settled: number;
}

export interface LinkTargets {
  /**
   * Returns the URL at which the files of an address begin, without a slash at its end. If it has other characters
   * than ASCII letters, digits and `/:.%-_`, the link stays unchanged.
   * @param named 64 hex digits in lower case, or a name.
   * @param isNavigation whether the user follows the link. Otherwise the page loads it.
   * @returns undefined for an unknown name.
   */
  urlOf(named: string, isNavigation: boolean): string | undefined;
  /** Changes when the result of `urlOf` changes. Part of ETags. */
  version: string;
}

export interface LinkContext {
  isNavigation?: boolean;
  /** Whether the text is the value of an HTML attribute, where character references stand for quotes and slashes. */
  isMarkup?: boolean;
}

function pattern(slash: string, quote: string, end: string): RegExp {
  const schemes = `(?:ant|autonomi):${slash}{2}|https?:${slash}{2}aut\\.local${slash}(?=[0-9a-f]{64})`;
  return new RegExp(`^((?:\\s${quote})*)(?:${schemes})([a-z0-9][\\w.-]*)(?=[/?#]|\\s*$${end})`, 'i');
}

const plain = pattern('/', '', '');
const markup = pattern('(?:/|&#x2f;|&#47;)', '|&(?:quot|apos|#34|#39|#x22|#x27);', '|&(?:quot|apos|#\\w+);');

/** Reports the edit for a URL, if the URL begins with a known content address. @param start position of the URL. */
export function editLink(
  url: string,
  start: number,
  targets: LinkTargets,
  onEdit: OnEdit,
  { isNavigation = false, isMarkup = false }: LinkContext = {},
): void {
  const match = (isMarkup ? markup : plain).exec(url);
  if (!match) return;
  const [whole, before, named] = match as unknown as [string, string, string];
  const isAddress = /^[0-9a-f]{64}$/i.test(named);
  const to = targets.urlOf(isAddress ? named.toLowerCase() : named, isNavigation);
  // Security: such a URL means the same in each quotation and as no other token, even if a browser parses differently.
  if (to !== undefined && /^[\w/:.%-]+$/.test(to)) onEdit(start + before.length, start + whole.length, to);
}

/** Whether a text may contain a link. Fast; the scanners decide. */
export function mayHoldLinks(text: string): boolean {
  return /ant:|autonomi:|aut\.local/i.test(text);
}
