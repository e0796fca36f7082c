import { render } from 'preact';
import { App } from './app.tsx';
import { isShellPath } from './boot.ts';
import { hrefOfName, isNamePath } from './names/name-path.ts';
import { OpeningPage } from './opening-page.tsx';
import { deleteForeignCookies } from './origins/foreign-cookies.ts';
import { applyLanguage, applyTheme } from './preferences.ts';
import { language } from './texts/texts.ts';

const root = document.getElementById('app')!;

/** The language is the key, so a change of the language mounts everything anew. */
function show(): void {
  if (isNamePath(location)) return;
  const page = isShellPath(location) ? <App key={language} onLanguage={show} /> : <OpeningPage />;
  render(page, root);
}

// Apps that were installed earlier still use the old manifest, which hands over data in the query. Move the data to the
// fragment until the browser updates the manifest.
if (isShellPath(location) && /^\?(open|url|text|title)=/.test(location.search)) {
  history.replaceState(history.state, '', `/#${location.search.slice(1)}`);
}
// The worker does not know the user's names. A new page at `/` may ask the gateway, and this one may not.
if (isNamePath(location)) location.replace(hrefOfName(location));
if (isShellPath(location) && window.top === window) deleteForeignCookies();
applyTheme();
// If another catalogue cannot be loaded, the page is shown in English.
applyLanguage().then(show, show);
