import { mkdtempSync } from 'node:fs';
import { cp, mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { limits } from '../../src/limits.ts';
import type { TransportName } from '../../src/stats/peer-attempt.ts';
import { bufferAccess, type RandomAccess } from '../../src/util/random-access.ts';
import { distFolder, fromRoot } from '../../tests/support/paths.ts';
import { type PeerOptions, PeerProcess } from '../../tests/support/peer-process.ts';
import { noise } from '../../tests/support/publish.ts';
import { AntTp } from './anttp.ts';
import type { LabFile } from './content.ts';
import { LabGateway } from './gateway.ts';
import { type BrowserName, type LabBrowser, type LabPage, launchLabBrowser } from './lab-browser.ts';
import { type PublishedFile, publishFile } from './publishing.ts';
import type { Scale } from './scenario.ts';

/** Small files for opening a session: the first may come by HTTP while it is not up yet. */
const warmUpFiles = 5;

/** A browser with a profile on disk, and a peer. */
export class LabMachine {
  private constructor(
    /** Of temporary files. */
    readonly folder: string,
    readonly browser: LabBrowser,
    /** With both transports. */
    readonly peer: PeerProcess,
  ) {}

  static async start(name: BrowserName = 'chromium'): Promise<LabMachine> {
    const folder = await mkdtemp(join(tmpdir(), 'antway-lab-'));
    const browser = await launchLabBrowser(name, join(folder, 'profile'));
    return new LabMachine(folder, browser, await PeerProcess.start({ store: join(folder, 'store') }));
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.peer.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The tools of a scenario. Everything that it starts and opens with them ends with the lab. */
export class Lab {
  readonly #closers: (() => Promise<unknown>)[] = [];
  readonly #folder: string;
  readonly #profileFolder: string | undefined;
  #site: Promise<PeerProcess> | undefined;
  #gateways = 0;
  readonly peer: PeerProcess;
  readonly browser: LabBrowser;
  /** Filled with all that is published, when `ANTTP_URL` names one. */
  readonly antTp = AntTp.fromEnvironment();

  /** @param profileFolder where the worker's CPU profiles go, if any are to be made. */
  constructor(
    readonly scale: Scale,
    { folder, browser, peer }: LabMachine,
    profileFolder?: string,
  ) {
    this.#folder = mkdtempSync(join(folder, 'scenario-'));
    this.#profileFolder = profileFolder;
    this.peer = peer;
    this.browser = browser;
  }

  /** The value for this run's scale. */
  pick<T>(full: T, quick: T, smoke: T): T {
    return { full, quick, smoke }[this.scale];
  }

  /** Has `close` called when the scenario ends; the last one first. */
  onClose(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.toReversed()) {
      await close().catch((error) => console.error('Could not be ended:', error));
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async startPeer(options: PeerOptions): Promise<PeerProcess> {
    const peer = await PeerProcess.start(options);
    this.onClose(() => peer.stop());
    return peer;
  }

  /** Encrypts a file and stores it at the peer, and at others. */
  publish(source: RandomAccess, ...others: PeerProcess[]): Promise<PublishedFile> {
    return publishFile(source, [this.peer, ...others, ...(this.antTp ? [this.antTp] : [])]);
  }

  /** The same for files as one tarchive. */
  async publishArchive(files: readonly LabFile[], ...others: PeerProcess[]): Promise<PublishedFile> {
    const tar = createTarchive(files.map(({ name, source }) => ({ path: name, source })));
    return this.publish(tar, ...others);
  }

  /**
   * A gateway that gets chunks from the lab's peer, or from another.
   * @param peerUrl where that is reached, if not directly.
   */
  async openGateway(
    options: { transport?: TransportName; peerUrl?: string; peer?: PeerProcess; build?: string } = {},
  ): Promise<LabGateway> {
    const { transport = 'webtransport', peer = this.peer, peerUrl = peer.url, build = distFolder } = options;
    const page = Buffer.from('<!doctype html><title>reader</title>');
    const reader = await this.publishArchive([{ name: 'index.html', source: bufferAccess(page) }], peer);
    const warmUps: string[] = [];
    for (let i = 0; i < warmUpFiles; i++) {
      warmUps.push(`/${(await this.publish(bufferAccess(noise(200 + i, 600)), peer)).address}`);
    }
    const name = join(this.#folder, `gateway-${this.#gateways++}`);
    await writeFile(`${name}.json`, JSON.stringify({ peers: [peerUrl], trusted: [reader.address] }));
    await cp(build, name, { recursive: true }); // one build for all rounds, even if another process builds meanwhile
    const host = await this.startPeer({
      flags: ['--web', name, '--web-config', `${name}.json`],
      webTransport: 'none',
    });
    const { browser } = this;
    const profileFolder = this.#profileFolder;
    const readerPath = `/${reader.address}/index.html`;
    const gateway = await LabGateway.open({
      host,
      browser,
      transport,
      warmUps,
      readerPath,
      profileFolder,
    });
    this.onClose(() => gateway.close());
    return gateway;
  }

  /** Writes files to where the baselines' server has them: `/static/<set>/<name>`. */
  async layOut(set: string, files: readonly LabFile[]): Promise<void> {
    for (const { name, source } of files) {
      const path = join(this.#siteFolder, 'static', set, name);
      await mkdir(dirname(path), { recursive: true });
      const file = await open(path, 'w');
      try {
        for (let at = 0; at < source.size; at += limits.plaintextChunkBytes) {
          await file.writeFile(await source.read(at, Math.min(at + limits.plaintextChunkBytes, source.size)));
        }
      } finally {
        await file.close();
      }
    }
  }

  /** A new page of the baselines' server; for `ceiling` and `bare`, one whose worker runs. */
  async openBaseline(part: 'static' | 'ceiling' | 'bare'): Promise<LabPage> {
    this.#site ??= this.#startSite();
    const { url } = await this.#site;
    const page = await this.openPage(`${url}/${part}/index.html`);
    if (part === 'static') return page;
    await page.evaluate(
      (part) => navigator.serviceWorker.register(`/sw.js?part=${part}`, { scope: `/${part}/` }),
      part,
    );
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    return page;
  }

  /** A new page. */
  async openPage(url: string): Promise<LabPage> {
    const page = await this.browser.newPage();
    this.onClose(() => page.close());
    await page.goto(url);
    return page;
  }

  /** A new folder for temporary files. */
  newFolder(): string {
    return mkdtempSync(join(this.#folder, 'files-'));
  }

  get #siteFolder(): string {
    return join(this.#folder, 'site');
  }

  async #startSite(): Promise<PeerProcess> {
    for (const part of ['static', 'ceiling', 'bare']) {
      await mkdir(join(this.#siteFolder, part), { recursive: true });
      await writeFile(join(this.#siteFolder, part, 'index.html'), `<!doctype html><title>${part}</title>`);
    }
    for (const part of ['ceiling', 'bare']) {
      await cp(fromRoot(`perf/lab/workers/${part}.js`), join(this.#siteFolder, 'assets', `${part}.js`));
    }
    // The peer's policy lets a page register this script and no other.
    const worker = "importScripts('/assets/' + new URLSearchParams(location.search).get('part') + '.js');\n";
    await writeFile(join(this.#siteFolder, 'sw.js'), worker);
    await writeFile(join(this.#siteFolder, 'index.html'), '<!doctype html><title>baselines</title>');
    return this.startPeer({ flags: ['--web', this.#siteFolder], webTransport: 'none' });
  }
}
