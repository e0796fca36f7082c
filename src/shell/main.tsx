import { render } from 'preact';
import { App } from './app.tsx';
import { isShellPath } from './boot.ts';
import { OpeningPage } from './opening-page.tsx';
import { applyLanguage, applyTheme } from './preferences.ts';
import { language } from './texts/texts.ts';

const root = document.getElementById('app')!;

/** What is on the page in the language of now. A new key makes everything anew, so that nothing keeps an old text. */
function show(): void {
  const page = isShellPath(location) ? <App key={language} onLanguage={show} /> : <OpeningPage />;
  render(page, root);
}

applyTheme();
// English is what there is when another catalogue cannot be loaded.
applyLanguage().then(show, show);
