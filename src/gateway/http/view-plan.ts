/** The shell sends this header to learn how its viewer shows a URL. A page of content learns nothing new by it. */
export const viewHeader = 'Antway-View';

export function isViewRequest({ headers, mode }: Request): boolean {
  return headers.has(viewHeader) && mode !== 'navigate';
}

/** The value of the header if the shell shows the content in one of its readers. */
export const inReader = 'reader';

export function isForReader({ headers }: Request): boolean {
  return headers.get(viewHeader) === inReader;
}

/** How the shell's viewer shows a URL of content. */
export type ViewPlan =
  /** The content has another URL on the gateway's origin. */
  | { kind: 'moved'; path: string }
  /** The URL is for a frame with scripts: it is on the site's own origin. */
  | { kind: 'own-origin'; url: string; address: string }
  | {
      kind: 'shared-origin';
      address: string;
      type: string;
      /** Whether the browser saves the file instead of showing it. */
      isSaved: boolean;
      /** Whether the document could run scripts. */
      hasScripts: boolean;
      /** The user's decision about scripts. */
      decision: 'trusted' | 'restricted' | null;
    };
