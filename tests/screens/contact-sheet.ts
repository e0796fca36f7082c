import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { languages } from '../../src/languages.ts';
import { albumFolder, schemes, widths } from './album.ts';

const style = `
body { margin: 0 auto; padding: 1rem 2rem; max-width: 1800px; font: 15px/1.4 system-ui; background: #ddd; color: #222; }
nav, .filters { display: flex; flex-wrap: wrap; gap: 0.4rem 1.2rem; margin: 0.6rem 0; }
.filters { position: sticky; top: 0; padding: 0.4rem 0; background: #ddd; }
.row { display: flex; gap: 0.6rem; flex-wrap: wrap; align-items: start; margin-bottom: 0.6rem; }
figure { margin: 0; }
figcaption { font-size: 12px; color: #555; }
img { display: block; height: 420px; width: auto; max-width: 100%; object-fit: cover; object-position: top; border: 1px solid #aaa; background: #fff; }
h3 { margin: 1.2rem 0 0.4rem; }
`;

/** After the last picture: writes a page with all pictures, by screen and state. */
export default function writeContactSheet(): void {
  const filters = { language: languages, width: widths.map(String), scheme: schemes } as const;
  const rules = Object.entries(filters).flatMap(([kind, values]) =>
    values.map((value) => `body:has(#${kind}-${value}:not(:checked)) .${kind}-${value} { display: none }`),
  );
  const boxes = Object.entries(filters).flatMap(([kind, values]) =>
    values.map((value) => `<label><input type="checkbox" id="${kind}-${value}" checked> ${value}</label>`),
  );
  const screens = readdirSync(albumFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = screens.map(({ name }) => name).sort();
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Screens of Antway</title>
<style>${style}${rules.join('\n')}</style><h1>Screens of Antway</h1>
<nav>${names.map((name) => `<a href="#${name}">${name}</a>`).join('')}</nav>
<div class="filters">${boxes.join('')}</div>
${names.map(screenSection).join('\n')}</html>`;
  const path = join(albumFolder, 'index.html');
  writeFileSync(path, page);
  console.log(`All screens: ${path}`);
}

function screenSection(screen: string): string {
  const files = readdirSync(join(albumFolder, screen)).sort();
  const sections = [...new Set(files.map(stateOf))].map(
    (state) =>
      `<h3>${state.replace(/^\d+ /, '')}</h3>${languages
        .map((language) => {
          const own = files.filter((file) => stateOf(file) === state && file.split('.')[1] === language);
          return `<div class="row language-${language}">${own.map((file) => figure(screen, file)).join('')}</div>`;
        })
        .join('')}`,
  );
  return `<h2 id="${screen}">${screen}</h2>${sections.join('')}`;
}

const stateOf = (file: string) => file.split('.')[0]!;

function figure(screen: string, file: string): string {
  const [, language, width, scheme] = file.split('.');
  const url = `${encodeURIComponent(screen)}/${encodeURIComponent(file)}`;
  return `<figure class="width-${width} scheme-${scheme}"><a href="${url}"><img src="${url}" alt="${file}" loading="lazy"></a><figcaption>${language}, ${width} px, ${scheme}</figcaption></figure>`;
}
