/** A package of the npm scope `@antway`, which this project builds into a folder of `dist-packages/`. */
export interface PackageDefinition {
  /** Below the scope, and the name of its folder. */
  name: string;
  description: string;
  keywords: readonly string[];
  /** Its README. */
  readme: string;
  /** The source of each module, by its path in `exports`. */
  modules: Readonly<Record<string, string>>;
  /** Files that sites copy to their hosts, by source. They are scripts for `<script>` or workers, not modules. */
  scripts?: Readonly<Record<string, string>>;
  /** Workers that its modules start, by file. Each is one file, because bundlers make classic scripts of workers. */
  workers?: Readonly<Record<string, string>>;
  /** Whether its modules are for service workers, which cannot import more modules while they run. */
  isForServiceWorkers?: true;
  /** Packages that the project which installs it must have, with their versions: `*` for the version of this project. */
  peerDependencies?: Readonly<Record<string, string>>;
}

export const packages: readonly PackageDefinition[] = [
  {
    name: 'fetch',
    description: 'fetch for content of the Autonomi network: verified and decrypted in your page or program.',
    keywords: ['fetch', 'stream'],
    readme: 'src/fetch/README.md',
    modules: { '.': 'src/fetch/index.ts' },
  },
  {
    name: 'publish',
    description:
      'Publishes files for the Autonomi network: encrypted in your page or program, stored by peers.',
    keywords: ['publish', 'upload', 'encryption'],
    readme: 'src/publisher/README.md',
    modules: {
      '.': 'src/publisher/index.ts',
      './network': 'src/publisher/network.ts',
      './node': 'src/publisher/node.ts',
      './s3': 'src/publisher/s3.ts',
    },
    workers: { 'encrypt-worker.js': 'src/publisher/encrypt-worker.ts' },
  },
  {
    name: 'page',
    description: 'Makes ant:// addresses of the Autonomi network work in the pages of a site.',
    keywords: ['service-worker', 'embed'],
    readme: 'src/page/README.md',
    modules: { '.': 'src/page/index.ts' },
  },
  {
    name: 'sw',
    description:
      'The service worker for content of the Autonomi network: ready to serve, or a part of your own worker.',
    keywords: ['service-worker', 'workbox'],
    readme: 'sw/README.md',
    modules: { '.': 'sw/handler.ts', './workbox': 'sw/workbox.ts' },
    scripts: { 'antway-sw.js': 'sw/drop-in.ts', 'antway-handler.js': 'sw/handler-global.ts' },
    isForServiceWorkers: true,
  },
  {
    name: 'vite',
    description:
      'Vite plugin that puts the service worker of @antway/sw into builds, and serves it in development.',
    keywords: ['vite-plugin', 'service-worker'],
    readme: 'src/vite-plugin/README.md',
    modules: { '.': 'src/vite-plugin/index.ts' },
    peerDependencies: { '@antway/sw': '*', vite: '^6.0.0 || ^7.0.0 || ^8.0.0' },
  },
];

/** The file of a module, in the folder of its package. */
export function moduleFile(path: string): string {
  return path === '.' ? 'index.js' : `${path.slice(2)}.js`;
}
