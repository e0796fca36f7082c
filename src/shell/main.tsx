import { render } from 'preact';
import { App } from './app.tsx';
import { isShellPath } from './boot.ts';
import { deleteForeignCookies } from './foreign-cookies.ts';
import { OpeningPage } from './opening-page.tsx';
import { applyLanguage, applyTheme } from './preferences.ts';
import { language } from './texts/texts.ts';

const root = document.getElementById('app')!;

/** What is on the page in the language of now. A new key makes everything anew, so that nothing keeps an old text. */
function show(): void {
  const page = isShellPath(location) ? <App key={language} onLanguage={show} /> : <OpeningPage />;
  render(page, root);
}

// So apps that were installed before hand over what came to them, until the browser looks at their manifest again.
if (isShellPath(location) && /^\?(open|url|text|title)=/.test(location.search)) {
  history.replaceState(history.state, '', `/#${location.search.slice(1)}`);
}
if (isShellPath(location) && window.top === window) deleteForeignCookies();
applyTheme();
// English is what there is when another catalogue cannot be loaded.
applyLanguage().then(show, show);
