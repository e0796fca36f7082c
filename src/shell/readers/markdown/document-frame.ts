import tokens from '../../styles/tokens.css?inline';
import style from './document.css?inline';

/**
 * The document that shows a stranger's text. Security: the text is sanitised. Should the sanitiser have a gap, then the
 * sandbox still forbids all scripts, forms and embedded documents, and the policy still forbids every request. The frame
 * keeps its origin, so that this page can put nodes into it and measure its height; without scripts, an origin gives a
 * document no rights. A link opens the top window only when the user follows it.
 */
const sandbox =
  'allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation';

const policy =
  "default-src 'none'; img-src blob: data:; script-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";

const skeleton = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="referrer" content="no-referrer"><title></title>`;

/** Creates the frame, not yet in the page. */
export function createDocumentFrame(title: string): HTMLIFrameElement {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', sandbox);
  frame.setAttribute('title', title);
  frame.className = 'document-frame';
  frame.srcdoc = skeleton;
  return frame;
}

/** Fills a frame that has loaded its skeleton. @returns the document's element with the content. */
export function fillDocumentFrame(
  frame: HTMLIFrameElement,
  content: DocumentFragment,
  language: string,
): HTMLElement {
  const { contentDocument, contentWindow } = frame;
  if (!contentDocument || !contentWindow) throw new Error('The frame of the document did not load.');
  const sheet = new (contentWindow as unknown as typeof globalThis).CSSStyleSheet();
  sheet.replaceSync(`${tokens}\n${style}`);
  contentDocument.adoptedStyleSheets = [sheet];
  contentDocument.documentElement.lang = language;
  const main = contentDocument.createElement('main');
  main.append(contentDocument.adoptNode(content));
  contentDocument.body.replaceChildren(main);
  return main;
}

/** Keeps the frame as high as its content and in the theme of this page. @returns a function that ends this. */
export function followDocument(frame: HTMLIFrameElement, main: HTMLElement): () => void {
  const resize = () => {
    frame.style.height = `${Math.ceil(main.getBoundingClientRect().height)}px`;
  };
  const theme = () => {
    const { theme } = document.documentElement.dataset;
    const { dataset } = main.ownerDocument.documentElement;
    if (theme) dataset.theme = theme;
    else delete dataset.theme;
  };
  const sizes = new ResizeObserver(resize);
  sizes.observe(main);
  const themes = new MutationObserver(theme);
  themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  theme();
  resize();
  return () => {
    sizes.disconnect();
    themes.disconnect();
  };
}

/** Scrolls to the target of a link within the document. Such a link would leave a `srcdoc` document. */
export function followFragments(main: HTMLElement): void {
  main.addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a[href^="#"]');
    if (!link) return;
    event.preventDefault();
    const id = link.getAttribute('href')!.slice(1);
    const target = main.ownerDocument.getElementById(id) ?? main.querySelector(`[name="${CSS.escape(id)}"]`);
    if (!target) return;
    target.scrollIntoView({ block: 'start' });
    (target as HTMLElement).tabIndex = -1;
    (target as HTMLElement).focus({ preventScroll: true });
  });
}
