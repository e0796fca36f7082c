import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromRoot } from '../support/paths.ts';

const read = (path: string) => readFileSync(fromRoot(path), 'utf8');

const sources = readdirSync(fromRoot('peer/src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.rs'))
  .map((name) => read(`peer/src/${name}`));

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

describe('the dashboard', () => {
  const { panels } = JSON.parse(read('deploy/grafana/antway-peer.json')) as { panels: Panel[] };

  it('shows only metrics that the peer has', () => {
    const registered = new Set(
      sources.flatMap((text) => Array.from(text.matchAll(/\.register\(\s*"(\w+)"/g), ([, name]) => name!)),
    );
    const shown = panels
      .flatMap(({ targets }) => targets ?? [])
      .flatMap(({ expr }) => Array.from(expr.matchAll(/\bantway_peer_(\w+)/g), ([, name]) => name!))
      .map((name) => name.replace(/_(total|bucket)$/, ''));
    expect(shown.length).toBeGreaterThan(15);
    expect(shown.filter((name) => !registered.has(name))).toEqual([]);
  });

  it('has a title and a query in each panel', () => {
    const data = panels.filter(({ targets }) => targets);
    expect(data.length).toBeGreaterThan(10);
    for (const { title, targets } of data) {
      expect(title).not.toBe('');
      expect(targets).not.toEqual([]);
    }
  });
});

it.each([
  'deploy/Dockerfile',
  'deploy/compose.yaml',
  'deploy/systemd/environment',
  'examples/fleet/compose.yaml',
])('%s sets only variables that the peer reads', (path) => {
  const known = new Set(
    sources.flatMap((text) => Array.from(text.matchAll(/env = "(ANTWAY_PEER_\w+)"/g), ([, name]) => name!)),
  );
  const used = Array.from(read(path).matchAll(/\b(ANTWAY_PEER_\w+)[=:]/g), ([, name]) => name!);
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

it('deploy/Dockerfile uses the version of pnpm that the project requires', () => {
  const { packageManager } = JSON.parse(read('package.json')) as { packageManager: string };
  expect(read('deploy/Dockerfile')).toContain(`npx --yes ${packageManager} install --frozen-lockfile`);
});
