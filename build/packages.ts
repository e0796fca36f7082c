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
  /** Whether its modules are for service workers, which cannot import more modules while they run. */
  isForServiceWorkers?: true;
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
    modules: { '.': 'src/publisher/index.ts', './node': 'src/publisher/node.ts' },
  },
];

/** The file of a module, in the folder of its package. */
export function moduleFile(path: string): string {
  return path === '.' ? 'index.js' : `${path.slice(2)}.js`;
}
