import { render } from 'preact';
import { App } from './app.tsx';
import { isShellPath } from './boot.ts';
import { OpeningPage } from './opening-page.tsx';

const page = isShellPath(location) ? <App /> : <OpeningPage />;
render(page, document.getElementById('app')!);
