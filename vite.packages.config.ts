import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type EnvironmentOptions, type Plugin } from 'vite';
import { libsodiumWasm } from './build/libsodium-wasm.ts';
import { writePackageFolder } from './build/package-folder.ts';
import { moduleFile, type PackageDefinition, packages } from './build/packages.ts';
import { pageStyle } from './build/page-style.ts';
import { portableBrotliEncoder, withoutDefaultWasm } from './build/portable-wasm.ts';
import { smallTokenizer } from './build/small-tokenizer.ts';
import { ThirdPartyNotices } from './build/third-party-notices.ts';
import { wasmHashes } from './build/wasm-hashes.ts';
import { classicDefines, withoutPreloading } from './build/worker.ts';
import packageJson from './package.json' with { type: 'json' };

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const outDir = fromRoot('dist-packages');
const types = join(outDir, 'types');

interface Bundle {
  definition: PackageDefinition;
  environment: EnvironmentOptions;
}

/** Beside the worker by these names, whose hashes let it keep them. */
const assetFileNames = ({ names }: { names: string[] }) =>
  names.some((name) => name.startsWith('libsodium'))
    ? 'antway-libsodium-[hash][extname]'
    : 'antway-brotli-[hash][extname]';

/**
 * @param entries sources by the name of their output.
 * @param others the same of other bundles of the package, whose files it imports instead of a copy.
 */
function bundle(
  definition: PackageDefinition,
  entries: Readonly<Record<string, string>>,
  { isOneFile = false, isClassic = false, others = {} as Readonly<Record<string, string>> } = {},
): Bundle {
  const input = Object.fromEntries(
    Object.entries(entries).map(([file, source]) => [file.replace(/\.js$/, ''), fromRoot(source)]),
  );
  return {
    definition,
    environment: {
      consumer: 'client',
      build: {
        outDir: join(outDir, definition.name),
        rolldownOptions: {
          input,
          external: [/^node:/, ...Object.values(others).map(fromRoot)],
          preserveEntrySignatures: 'strict',
          output: {
            format: isClassic ? 'iife' : 'es',
            entryFileNames: '[name].js',
            chunkFileNames: '[name].js',
            assetFileNames,
            paths: Object.fromEntries(
              Object.entries(others).map(([file, source]) => [fromRoot(source), `./${file}`]),
            ),
            ...(isOneFile && { codeSplitting: false }),
          },
          ...(isClassic && { transform: { define: classicDefines } }),
        },
      },
    },
  };
}

function bundlesOf(definition: PackageDefinition): Record<string, Bundle> {
  const { name, modules, scripts = {}, workers = {}, isForServiceWorkers } = definition;
  const entries = Object.fromEntries(
    Object.entries(modules).map(([path, source]) => [moduleFile(path), source]),
  );
  const nameOf = (file: string) => `${name}_${file.replace(/\W/g, '_')}`;
  const modulesOfWorker = () =>
    Object.entries(entries).map(([file, source]) => {
      const { [file]: _, ...others } = entries;
      const options = { isOneFile: true, others };
      return [nameOf(file), bundle(definition, { [file]: source }, options)] as const;
    });
  return Object.fromEntries([
    ...(isForServiceWorkers ? modulesOfWorker() : [[name, bundle(definition, entries)] as const]),
    ...Object.entries(workers).map(([file, source]) => {
      return [nameOf(file), bundle(definition, { [file]: source }, { isOneFile: true })] as const;
    }),
    ...Object.entries(scripts).map(([file, source]) => {
      const options = { isOneFile: true, isClassic: true };
      return [nameOf(file), bundle(definition, { [file]: source }, options)] as const;
    }),
  ]);
}

const bundles: Record<string, Bundle> = Object.assign({}, ...packages.map(bundlesOf));

/** Applies a plug-in only to the bundles for which the condition is true. */
function onlyFor(isFor: (definition: PackageDefinition) => boolean, plugin: Plugin): Plugin {
  return {
    ...plugin,
    applyToEnvironment: ({ name }) => bundles[name] !== undefined && isFor(bundles[name].definition),
  };
}

/** Bundlers of sites find a worker by this expression. This build itself must not, so it comes last. */
const workerUrls: Plugin = {
  name: 'antway:worker-urls',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      file.code = file.code.replaceAll(
        '__ANTWAY_ENCRYPT_WORKER__',
        "new URL('./encrypt-worker.js',import.meta.url)",
      );
    }
  },
};

const notices = new Map(
  packages.map((definition) => {
    const own = new ThirdPartyNotices();
    own.add(fromRoot('node_modules/assemblyscript'));
    return [definition, own];
  }),
);
const isForServiceWorkers = (definition: PackageDefinition) => definition.isForServiceWorkers === true;

/** The folders of all packages, after `tsc` has written the declarations: `vite build --app`. */
export default defineConfig({
  publicDir: false,
  define: { __ANTWAY_VERSION__: JSON.stringify(process.env.ANTWAY_VERSION ?? packageJson.version) },
  plugins: [
    ...Array.from(notices, ([definition, own]) => onlyFor((each) => each === definition, own.collect())),
    onlyFor(isForServiceWorkers, libsodiumWasm()),
    onlyFor(isForServiceWorkers, wasmHashes()),
    onlyFor(isForServiceWorkers, smallTokenizer),
    pageStyle(),
    workerUrls,
    portableBrotliEncoder(),
    withoutDefaultWasm,
    withoutPreloading,
  ],
  build: {
    emptyOutDir: false,
    target: 'es2022',
    sourcemap: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    // The advice to split cannot be followed.
    chunkSizeWarningLimit: 2000,
  },
  environments: Object.fromEntries(
    Object.entries(bundles).map(([name, { environment }]) => [name, environment]),
  ),
  builder: {
    // All bundles of a package collect their third-party packages in one object.
    sharedConfigBuild: true,
    async buildApp({ build, environments }) {
      for (const { name } of packages) rmSync(join(outDir, name), { recursive: true, force: true });
      for (const name of Object.keys(bundles)) await build(environments[name]!);
      for (const [definition, own] of notices) {
        const folder = join(outDir, definition.name);
        own.write(folder);
        writePackageFolder(definition, folder, types);
      }
    },
  },
});
