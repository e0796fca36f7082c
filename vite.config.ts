import { fileURLToPath } from 'node:url';
import { defineConfig, type InlineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';
import { embeddedBuild } from './build/embed-build.ts';
import { libsodiumWasm } from './build/libsodium-wasm.ts';
import { pageStyle, tokenColours } from './build/page-style.ts';
import { sitePages } from './build/site-pages.ts';
import { smallTokenizer } from './build/small-tokenizer.ts';
import { ThirdPartyNotices } from './build/third-party-notices.ts';
import { wasmHashes } from './build/wasm-hashes.ts';
import { classicDefines, minifyAgain, withoutPreloading } from './build/worker.ts';
import packageJson from './package.json' with { type: 'json' };

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The peer that `vite dev` hands the gateway's host requests to: start one with
 * `antway-peer serve --http 127.0.0.1:8080 …`, or name another in `ANTWAY_PEER`.
 */
const developmentPeer = process.env.ANTWAY_PEER ?? 'http://127.0.0.1:8080';

const notices = new ThirdPartyNotices();
// The WebAssembly kernel contains the runtime of its compiler.
notices.add(fromRoot('node_modules/assemblyscript'));

/** The colour around the page: of the browser's own interface, and of the app while it starts. */
const ground = tokenColours('ground');

/** Each chunk is a hash in the worker, so small modules share one. */
const chunks = [
  // All that the first screen needs. Lazy parts share it, too.
  { name: 'shell', tags: ['$initial' as const] },
  // The shelf parses lists of sites: with their parser in `owned`, a first visit would load all of that.
  {
    name: 'common',
    test: /\/(idb-keyval|valibot|src\/util|src\/catalogue|src\/schema|src\/shell\/copy-button|shelf-title)\b/,
  },
  // The viewer shows names and the panel to share, too, and would otherwise load `owned`.
  {
    name: 'names',
    test: /\/shell\/share\/share|\/view-plan\.|\/shell\/names\/(site-names|name-problem|change-names)\.|\/src\/names\/name-changes\.|\/texts\/((en|de)\/)?names\./,
  },
  // Reading from nodes needs no payments.
  { name: 'nodes', test: /\/src\/nodes\// },
  { name: 'payment', test: /\/payment(\/|\.ts$)/ },
  // Publications, keys and backups. The worker has a hash of each file, so a few large ones are better.
  {
    name: 'owned',
    test: /\/(published|pointers|backup|owner)\/|\/(published|pointers|publications|publication|note-publication)\.ts$/,
  },
  { name: 'site-exchange', test: /\/library\/(imported-card|site-exchange)\./ },
];

const shortcutIcons = [{ src: '/icon-192.png', sizes: '192x192', type: 'image/png' }];

export default defineConfig({
  root: fromRoot('src/shell'),
  publicDir: fromRoot('public'),
  define: {
    __ANTWAY_VERSION__: JSON.stringify(process.env.ANTWAY_VERSION ?? packageJson.version),
    'import.meta.env.GROUND_LIGHT': JSON.stringify(ground.light),
    'import.meta.env.GROUND_DARK': JSON.stringify(ground.dark),
  },
  // Absolute: a host answers every unknown path, at any depth, with this one document.
  base: '/',
  build: {
    outDir: fromRoot('dist'),
    emptyOutDir: true,
    assetsDir: 'assets',
    target: 'es2022',
    // Each asset is a file with a hash of its own, and the host's content security policy forbids data: styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: { groups: chunks },
        // The worker's script has all of these names, and hashes do not compress. 36 bits tell versions of a file apart.
        entryFileNames: 'assets/[name]-[hash:6].js',
        chunkFileNames: 'assets/[name]-[hash:6].js',
        assetFileNames: 'assets/[name]-[hash:6][extname]',
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: {
    proxy: Object.fromEntries(['/antway.json', '/chunk/', '/-/'].map((path) => [path, developmentPeer])),
  },
  // The page's own worker, which publishes.
  worker: { format: 'es', plugins: () => [libsodiumWasm(), notices.collect()] },
  plugins: [
    notices.collect(),
    sitePages(),
    libsodiumWasm(),
    wasmHashes(),
    pageStyle(),
    VitePWA({
      strategies: 'injectManifest',
      srcDir: '../../sw',
      filename: 'sw.ts',
      // `src/shell/worker.ts` registers the worker: it has errors to show that a generated script has not.
      injectRegister: false,
      manifest: {
        id: '/',
        name: 'Antway',
        short_name: 'Antway',
        description: 'Open sites and files of the Autonomi network in this browser.',
        lang: 'en',
        start_url: '/',
        scope: '/',
        display: 'standalone',
        // An open window is used again; the way back leads to what it showed.
        launch_handler: { client_mode: ['navigate-existing', 'auto'] },
        // Links carry keys. A fragment is sent to nobody, and what is shared the worker takes.
        protocol_handlers: [{ protocol: 'web+ant', url: '/#open=%s' }],
        share_target: {
          action: '/-/share',
          method: 'POST',
          enctype: 'multipart/form-data',
          params: { title: 'title', text: 'text', url: 'url' },
        },
        // With a fragment, so that a shell that is open stays the document that it is.
        file_handlers: [
          {
            action: '/#open',
            accept: {
              'application/vnd.autonomi.manifest': ['.ant'],
              'application/vnd.autonomi.datamap': ['.datamap'],
            },
          },
          { action: '/#open', accept: { 'application/vnd.antway.site': ['.antsite'] } },
        ],
        shortcuts: [
          { name: 'Library', url: '/#library', icons: shortcutIcons },
          { name: 'Publish', url: '/#publish', icons: shortcutIcons },
          { name: 'Live', url: '/#live', icons: shortcutIcons },
        ],
        screenshots: [
          {
            src: '/screenshot-wide.png',
            sizes: '1280x800',
            type: 'image/png',
            form_factor: 'wide',
            label: 'Open',
          },
          {
            src: '/screenshot-narrow.png',
            sizes: '390x844',
            type: 'image/png',
            form_factor: 'narrow',
            label: 'Open',
          },
        ],
        theme_color: ground.light,
        background_color: ground.light,
        categories: ['utilities', 'productivity'],
        icons: [
          { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml' },
          { src: '/icon-192.png', sizes: '192x192', type: 'image/png' },
          { src: '/icon-512.png', sizes: '512x512', type: 'image/png' },
          { src: '/icon-maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
        ],
      },
      // `embeddedBuild` writes into the worker which files there are.
      injectManifest: { rollupFormat: 'iife', injectionPoint: '' },
      integration: { configureCustomSWViteBuild: buildAsClassicScript },
      // In development the worker knows no files: the development server answers for all of them.
      devOptions: { enabled: true, type: 'module' },
    }),
    embeddedBuild((folder) => notices.write(folder)),
  ],
});

/**
 * The plugin builds the worker as a Vite library, and Vite writes every asset of a library into its script.
 * An application with one IIFE output is the same classic script, but leaves the WebAssembly beside it, where
 * each has a hash of its own.
 */
function buildAsClassicScript(config: InlineConfig): void {
  const { lib, ...build } = config.build ?? {};
  const entry = lib ? lib.entry : undefined;
  if (!entry) throw new Error('vite-plugin-pwa no longer builds the worker as a library.');
  config.build = {
    ...build,
    assetsInlineLimit: 0,
    // The advice to split it cannot be followed.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: entry,
      // Service workers have no dynamic import(): one file must hold everything.
      output: { format: 'iife', entryFileNames: 'sw.js', codeSplitting: false },
      transform: { define: classicDefines },
      // The second minification takes nearly all of the time, which is no fault to warn of.
      checks: { bundlerTimings: false },
    },
  };
  config.plugins = [
    notices.collect(),
    withoutPreloading,
    smallTokenizer,
    libsodiumWasm(),
    wasmHashes(),
    pageStyle(),
    minifyAgain,
  ];
}
