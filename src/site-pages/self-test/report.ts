import { version } from '../../version.ts';

/** The order of the checks. The names are a part of the report's format. */
export const checkIds = [
  'serviceWorker',
  'indexedDb',
  'storage',
  'streams',
  'webCrypto',
  'wasmSimd',
  'webLocks',
  'broadcastChannel',
  'http',
  'webTransport',
  'webRtc',
  'content',
] as const;

export type CheckId = (typeof checkIds)[number];

/** `missing`: the browser does not have it. `skipped`: there is nothing to test it with. */
export type State = 'passed' | 'failed' | 'missing' | 'skipped';

export type Facts = Readonly<Record<string, string | number | boolean | null>>;

export interface Result {
  id: CheckId;
  state: State;
  /** Whether the gateway cannot do without it. */
  needed: boolean;
  milliseconds: number;
  facts: Facts;
  /** Of a check that has not passed. */
  problem: { code: string; message: string } | null;
}

/** The report, version 1 of its format. docs/reference/browsers.md describes it. */
export interface Report {
  format: 'antway-self-test';
  formatVersion: 1;
  /** The version of Antway. */
  antway: string;
  /** ISO 8601. */
  time: string;
  browser: Browser;
  /** Whether the browser has each of the newest features that the gateway uses. */
  features: Readonly<Record<string, boolean>>;
  results: Result[];
}

interface Browser {
  userAgent: string;
  /** From the user agent's client hints. Null where the browser has none. */
  hints: {
    brands: string[];
    mobile: boolean;
    platform: string;
    platformVersion: string;
    model: string;
  } | null;
  language: string;
  processors: number;
  /** Whether the page is in the window of an installed app. */
  installed: boolean;
}

/** A part of the user agent's client hints, which TypeScript does not know. */
interface UserAgentData {
  getHighEntropyValues(names: readonly string[]): Promise<{
    mobile: boolean;
    platform: string;
    platformVersion?: string;
    model?: string;
    fullVersionList?: { brand: string; version: string }[];
  }>;
}

export async function createReport(results: Result[]): Promise<Report> {
  return {
    format: 'antway-self-test',
    formatVersion: 1,
    antway: version,
    time: new Date().toISOString(),
    browser: await describeBrowser(),
    features: {
      abortSignalAny: 'any' in AbortSignal,
      lightDark: CSS.supports('color', 'light-dark(red, blue)'),
      decompressionStream: 'DecompressionStream' in globalThis,
      backgroundSync: 'SyncManager' in globalThis,
      directoryPicker: 'showDirectoryPicker' in globalThis,
      share: 'share' in navigator,
    },
    results,
  };
}

async function describeBrowser(): Promise<Browser> {
  const { userAgent, language, hardwareConcurrency } = navigator;
  return {
    userAgent,
    hints: await clientHints(),
    language,
    processors: hardwareConcurrency,
    installed: matchMedia('(display-mode: standalone)').matches,
  };
}

async function clientHints(): Promise<Browser['hints']> {
  const { userAgentData } = navigator as Navigator & { userAgentData?: UserAgentData };
  const names = ['fullVersionList', 'platformVersion', 'model'];
  const hints = await userAgentData?.getHighEntropyValues(names).catch(() => undefined);
  if (!hints) return null;
  const { mobile, platform, platformVersion = '', model = '', fullVersionList = [] } = hints;
  const brands = fullVersionList.map(({ brand, version }) => `${brand} ${version}`);
  return { brands, mobile, platform, platformVersion, model };
}

/** Removes URLs and addresses from an error's message, because users publish their report. */
export function withoutAddresses(message: string): string {
  return message.replace(/[a-z+]+:\/\/[^\s“”"',;]+/gi, '<URL>').replace(/[0-9a-f]{64}/gi, '<address>');
}
