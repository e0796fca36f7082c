/**
 * `/-/move`, a page of the gateway at `antway.localhost`. It copies the library of the same gateway from `127.0.0.1`,
 * `localhost` or `[::1]`, where the shell opens this page in a window. A site that the user trusts there can also open
 * this page, so the page copies nothing before the user agrees on it.
 */

import type { LeftName } from '../names/name-changes.ts';
import { announcement, button, element, link } from './elements.ts';
import { problemText } from './endpoint.ts';
import { formerOrigin, parseOffer } from './library-offer.ts';
import type { LibraryOffer, OfferedSite } from './messages.ts';
import { MovePort } from './move-port.ts';
import { type MoveTexts, moveTexts } from './move-texts.ts';
import { TakeOver, type TakeOverProblem } from './take-over.ts';
import { whenSeen } from './when-seen.ts';
import { controlledByWorker } from './worker.ts';

const page = document.getElementById('page')!;
let t: MoveTexts = speak(navigator.language.startsWith('de') ? 'de' : 'en');

async function main(): Promise<void> {
  const origin = formerOrigin(location, location.hash);
  if (!origin || !opener) return show(heading(t.title), element('p', [t.noOpener]));
  show(heading(t.title), announcement('status', t.starting));
  await controlledByWorker();
  const { port, offer: offered } = await MovePort.open(opener, origin);
  const offer = parseOffer(offered, location.origin);
  t = speak(offer.language);
  ask(origin, offer, port);
}

function ask(origin: string, offer: LibraryOffer, port: MovePort): void {
  const { sites, settings } = offer;
  const of = (is: (site: OfferedSite) => boolean) => sites.filter(is).length;
  const facts = [
    t.sites(
      sites.length,
      of(({ isPinned }) => isPinned),
      of(({ isPrivate }) => isPrivate),
    ),
    offer.publications.length > 0 && t.publications(offer.publications.length),
    settings.peers && t.peers(settings.peers),
    settings.names && t.names(namesOf(settings.names), Object.keys(settings.names).length),
    settings.denied && t.denied(settings.denied.length),
    settings.usePeersOfPeers && t.usePeersOfPeers,
    (settings.cache || settings.transport) && t.limits,
    offer.restricted.length > 0 && t.restricted(offer.restricted.length),
  ];
  const items = facts.filter((fact) => typeof fact === 'string').map((fact) => element('li', [fact]));

  let isSeen = false;
  const take = button(t.take, () => {
    if (!isSeen) return;
    stopLooking();
    void run(new TakeOver(offer, port), port);
  });
  const cancel = button(t.cancel, () => {
    stopLooking();
    port.send({ kind: 'cancelled' });
    show(heading(t.cancelled), element('p', [t.canClose]));
    close();
  });
  const stopLooking = whenSeen((seen) => {
    isSeen = seen;
    take.setAttribute('aria-disabled', String(!seen));
  });
  show(
    heading(t.question(origin)),
    element('p', [t.intro]),
    element('ul', items),
    element('p', [t.onlyIfAsked]),
    element('p', [take, cancel]),
  );
  // The least harmful button gets the focus.
  cancel.focus({ preventScroll: true });
}

const mostNames = 12;

/** Includes the beginnings of the addresses. */
function namesOf(names: Record<string, string>): string[] {
  const first = Object.entries(names).slice(0, mostNames);
  return first.map(([name, address]) => `${name} (${address.slice(0, 8)}…)`);
}

async function run(takeOver: TakeOver, port: MovePort): Promise<void> {
  const progress = announcement('status', t.beginning);
  const title = heading(t.running);
  show(title, progress);
  title.focus();
  const outcome = await takeOver.run((done, count, what) => {
    progress.textContent = t.progress(done, count, what);
  });
  const { copied, published, problems } = outcome;
  port.send({ kind: 'done', copied, published, failed: problems.length });
  showOutcome(takeOver, port, t.copied(copied, published), outcome);
}

function showOutcome(
  takeOver: TakeOver,
  port: MovePort,
  copied: string,
  { problems, left }: { problems: readonly TakeOverProblem[]; left: readonly LeftName[] },
): void {
  const title = heading(problems.length > 0 ? t.partly : t.done);
  const parts: Node[] = [title, announcement('status', copied)];
  if (problems.length > 0) {
    const items = problems.map((problem) =>
      element('li', [`${problem.what ?? t.settings}: ${problemText(problem)}`]),
    );
    const again = button(t.again, () => void run(takeOver, port));
    parts.push(element('p', [t.failed]), element('ul', items), element('p', [again]));
  }
  if (left.length > 0) {
    const items = left.map(({ name, reason }) => element('li', [`${name}: ${reason}`], { lang: 'en' }));
    parts.push(element('p', [t.left]), element('ul', items));
  }
  show(...parts, libraryLink());
  title.focus();
}

function speak(language: keyof typeof moveTexts): MoveTexts {
  document.documentElement.lang = language;
  document.title = `${moveTexts[language].title} · Antway`;
  return moveTexts[language];
}

function libraryLink(): HTMLElement {
  return element('p', [link(t.library, '/#library')]);
}

function show(...nodes: Node[]): void {
  page.replaceChildren(...nodes);
}

function heading(text: string): HTMLElement {
  return element('h1', [text], { tabIndex: -1 });
}

main().catch((error) => {
  show(heading(t.notPossible), announcement('alert', problemText(error)), libraryLink());
});
