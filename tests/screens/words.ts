import { textsIn } from '../../src/gateway/pages/texts/texts.ts';
import type { Language } from '../../src/languages.ts';
import { de as readerDe } from '../../src/shell/readers/texts/de.ts';
import { en as readerEn } from '../../src/shell/readers/texts/en.ts';
import { backup as backupDe } from '../../src/shell/texts/de/backup.ts';
import { connectionDetails as connectionDe } from '../../src/shell/texts/de/connection-details.ts';
import { find as findDe } from '../../src/shell/texts/de/find.ts';
import { de } from '../../src/shell/texts/de/index.ts';
import { payment as paymentDe } from '../../src/shell/texts/de/payment.ts';
import { pointers as pointersDe } from '../../src/shell/texts/de/pointers.ts';
import { published as publishedDe } from '../../src/shell/texts/de/published.ts';
import { search as searchDe } from '../../src/shell/texts/de/search.ts';
import { share as shareDe } from '../../src/shell/texts/de/share.ts';
import { shelf as shelfDe } from '../../src/shell/texts/de/shelf.ts';
import { viewer as viewerDe } from '../../src/shell/texts/de/viewer.ts';
import { backup } from '../../src/shell/texts/en/backup.ts';
import { connectionDetails } from '../../src/shell/texts/en/connection-details.ts';
import { find } from '../../src/shell/texts/en/find.ts';
import { en } from '../../src/shell/texts/en/index.ts';
import { payment } from '../../src/shell/texts/en/payment.ts';
import { pointers } from '../../src/shell/texts/en/pointers.ts';
import { published } from '../../src/shell/texts/en/published.ts';
import { search } from '../../src/shell/texts/en/search.ts';
import { share } from '../../src/shell/texts/en/share.ts';
import { shelf } from '../../src/shell/texts/en/shelf.ts';
import { viewer } from '../../src/shell/texts/en/viewer.ts';

const english = {
  ...en,
  ...{ backup, connectionDetails, find, payment, pointers, published, search, share, shelf, viewer },
  readers: readerEn,
  pages: textsIn('en'),
};

/** All texts of the shell and of the gateway's pages in one language. */
export type Words = typeof english;

export const words: Record<Language, Words> = {
  en: english,
  de: {
    ...de,
    backup: backupDe,
    connectionDetails: connectionDe,
    find: findDe,
    payment: paymentDe,
    pointers: pointersDe,
    published: publishedDe,
    search: searchDe,
    share: shareDe,
    shelf: shelfDe,
    viewer: viewerDe,
    readers: readerDe,
    pages: textsIn('de'),
  },
};
