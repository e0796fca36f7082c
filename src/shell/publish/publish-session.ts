import type { Publication } from '../../gateway/state/publications.ts';
import type { Payment } from '../../payment/pay.ts';
import type { PublishProgress } from '../../publish/publish.ts';
import { asGatewayApiError, GatewayApiError, gateway } from '../gateway-api.ts';
import { Observable, useObserved } from '../observable.ts';
import { partProblem } from '../part-problem.ts';
import type { NetworkChoice } from '../payment/network-choice.ts';
import { saveAs } from '../save-as.ts';
import { texts } from '../texts/texts.ts';
import type { EncryptedContent, PublishAnswer, PublishInput, PublishRequest } from './messages.ts';
import type { PublicationInput } from './note-publication.ts';
import type { Picked } from './pick.ts';

export interface PublishChoices {
  peers: readonly string[];
  token: string;
  isPrivate: boolean;
  /** Null to store at peers only. */
  network: NetworkChoice | null;
  /** The seed of the key that signs the files, or null. */
  signer: Uint8Array | null;
}

type PaidOptions = PublishChoices & { network: NetworkChoice };
type Result = Extract<PublishAnswer, { type: 'published' }>;
type Price = Omit<Extract<PublishAnswer, { type: 'priced' }>, 'type'>;

/** How many of the records have a price already. */
type Asked = Omit<Extract<PublishAnswer, { type: 'asked' }>, 'type'>;
type Report = Extract<PublishAnswer, { type: 'progress' | 'asked' | 'signing' }>;
/** How many of the files are signed already. */
type Signing = Omit<Extract<PublishAnswer, { type: 'signing' }>, 'type'>;

/** The cost of an upload to the network, as far as this run paid for it. */
export interface NetworkResult {
  chain: NetworkChoice['chain'];
  /** In atto. */
  amount: bigint;
  /** In wei. */
  fees: bigint;
  /** The names of its records in the journal. */
  records: readonly string[];
}
/** Chunks that were written to a file. `isStored` as in the state `done`. */
export type Saved = EncryptedContent & { isStored: boolean };
type Task = 'price' | 'publish' | 'tar' | 'chunks';

/** Whether a task writes a file of the user. */
export const isSave = (task: Task) => task === 'tar' || task === 'chunks';

export type PublishState =
  | { step: 'choose'; error: GatewayApiError | null }
  | { step: 'reading' }
  | ({ step: 'ready'; error: GatewayApiError | null } & Chosen)
  | ({
      step: 'working';
      task: Task;
      /** At so many places the chunks are stored: peers, and the network. */
      places: number;
      progress: PublishProgress | null;
      asked: Asked | null;
      signing: Signing | null;
    } & Chosen)
  /** The user has to pay before the upload. */
  | ({ step: 'priced'; price: Price; options: PaidOptions; isPaying: boolean } & Chosen)
  | ({ step: 'stopped'; task: Task; error: GatewayApiError | null } & Chosen)
  /** `isStored` says whether this browser stores the manifest of private content in its library. */
  | {
      step: 'done';
      picked: Picked;
      isPrivate: boolean;
      result: Result;
      isStored: boolean;
      /** Why the publication is not in the user's list. Null if it is. */
      unlisted: GatewayApiError | null;
      /** Whether an update of a publication had nothing to change. */
      isUnchanged: boolean;
      /** Null if it is stored at peers only. */
      network: NetworkResult | null;
    };

interface Chosen {
  picked: Picked;
  /** Null until the archive's layout is computed. */
  measure: Measure | null;
  /** The chunks that were last written to a file. They stay in the state, because their link may be the only one. */
  saved: Saved | null;
}

/** Bytes before compression (of the tar, if there is one), and the number of chunks with the data map's record. */
export interface Measure {
  bytes: number;
  chunks: number;
}

/** Publishes one input at a time. One instance per page, so that it continues when the user changes the screen. */
class PublishSession extends Observable<PublishState> {
  #worker: Worker | undefined;
  /** The number of choices so far. The user may choose again while a large folder is still being read. */
  #choices = 0;
  #replaces: Publication | null = null;

  constructor() {
    super({ step: 'choose', error: null });
  }

  /** The publication that the next one is a newer version of. */
  get replaces(): Publication | null {
    return this.#replaces;
  }

  /** The next publication is something new, and replaces none. */
  stopReplacing(): void {
    this.#replaces = null;
    this.set({ ...this.state });
  }

  /** Whether a task or a payment is running. It would end if the user left this page. */
  get isWorking(): boolean {
    const { state } = this;
    return state.step === 'working' || (state.step === 'priced' && state.isPaying);
  }

  /** Whether leaving this page would lose a running task, or the only link to private content. */
  get isUnsafeToLeave(): boolean {
    const { state } = this;
    if (state.step === 'done') return state.result.manifest !== null && !state.isStored;
    if ('saved' in state && state.saved?.manifest && !state.saved.isStored) return true;
    return this.isWorking;
  }

  /** @param reading resolves to the chosen files. It may take a while for a large folder. */
  async choose(reading: Promise<Picked>): Promise<void> {
    const choice = ++this.#choices;
    this.set({ step: 'reading' });
    let picked: Picked;
    try {
      picked = await reading;
      if (choice !== this.#choices) return;
    } catch (error) {
      if (choice !== this.#choices) return;
      const message = texts.open.unreadable((error as Error).message);
      this.set({
        step: 'choose',
        error: new GatewayApiError('UNREADABLE', message, { isTranslated: true }),
      });
      return;
    }
    if (picked.files.length === 0) {
      this.set({
        step: 'choose',
        error: new GatewayApiError('NOT_FOUND', texts.publish.empty, { isTranslated: true }),
      });
      return;
    }
    this.set({ step: 'ready', picked, measure: null, error: null, saved: null });
    const answer = await this.#ask({ task: 'measure', ...inputOf(picked, null) });
    if (this.state.step !== 'ready' || this.state.picked !== picked) return;
    if (answer.type === 'measured') this.set({ ...this.state, measure: answer });
    else if (answer.type === 'failed') this.set({ ...this.state, error: asError(answer) });
  }

  /**
   * Uploads the chosen files to peers, to the network, or to both. Skips chunks that are stored there. For the network, the
   * user sees the price first, unless nothing is left to pay. A wallet also tells whether the chain has lost a payment.
   */
  async publish(options: PublishChoices): Promise<void> {
    // Loaded while the host answers, so that no finished publication is left out of the list.
    import('./note-publication.ts').catch(() => undefined);
    const { network, isPrivate, signer } = options;
    if (!network) return this.#upload(options, null);
    const priced = await this.#run('price', (picked) => ({
      task: 'price',
      ...inputOf(picked, signer),
      network,
      isPrivate,
    }));
    if (priced?.answer.type !== 'priced') return;
    const { answer: price, chosen } = priced;
    this.set({ step: 'priced', ...chosen, price, options: { ...options, network }, isPaying: false });
    if (price.bill.dueRecords === 0 && price.bill.unseen === 0) await this.upload({ amount: 0n, fees: 0n });
  }

  /** Brings to the network what is paid for. @param paid by this run. */
  async upload({ amount, fees }: Pick<Payment, 'amount' | 'fees'>): Promise<void> {
    if (this.state.step !== 'priced') return;
    const { options, price } = this.state;
    const { chain } = options.network;
    await this.#upload(options, { chain, amount, fees, records: price.records });
  }

  /** @param isPaying whether a wallet is asked, so that leaving the page would interrupt it. */
  setPaying(isPaying: boolean): void {
    if (this.state.step === 'priced') this.set({ ...this.state, isPaying });
  }

  /** Lets the user choose other peers, or none of the network. */
  backToChoice(): void {
    if (this.state.step !== 'priced') return;
    const { picked, measure, saved } = this.state;
    this.set({ step: 'ready', picked, measure, saved, error: null });
  }

  async saveTar(signer: Uint8Array | null): Promise<void> {
    await this.#run('tar', (picked) => ({ task: 'tar', ...inputOf(picked, signer) }));
  }

  /** Writes the encrypted chunks to a file of the user. For private content, the data map's record is left out. */
  async saveChunks(isPrivate: boolean, signer: Uint8Array | null): Promise<void> {
    await this.#run('chunks', (picked) => ({ task: 'chunks', ...inputOf(picked, signer), isPrivate }));
  }

  /** Cancels the running task. Uploaded chunks stay at the peers. */
  cancel(): void {
    this.#worker?.postMessage({ task: 'cancel' } satisfies PublishRequest);
  }

  /** @param replaces the publication that the next one is a newer version of. */
  restart(replaces: Publication | null = null): void {
    this.#choices++;
    this.#replaces = replaces;
    this.set({ step: 'choose', error: null });
  }

  async #upload(options: PublishChoices, network: NetworkResult | null): Promise<void> {
    const published = await this.#run('publish', (picked) => ({
      task: 'publish',
      ...inputOf(picked, options.signer),
      ...options,
      network: options.network && { ...options.network, records: network!.records },
    }));
    if (published?.answer.type !== 'published') return;
    const { answer: result, chosen } = published;
    const { picked } = chosen;
    const { isPrivate } = options;
    const id = await keep(result.manifest);
    // A peer that brings records to the network reads them from there, too.
    const peers = [...new Set([...options.peers, ...(options.network?.relays ?? [])])];
    const listed = { picked, peers, isPrivate, result, id, replaces: this.#replaces };
    const { unlisted, isUnchanged } = await listPublication(listed);
    this.#replaces = null;
    const isStored = id !== null;
    this.set({ step: 'done', picked, isPrivate, result, isStored, unlisted, isUnchanged, network });
  }

  /** @returns undefined if the session is not at a step that starts a task. Other ends of the task are in the state. */
  async #run(
    task: Task,
    request: (picked: Picked) => PublishRequest,
  ): Promise<{ answer: PublishAnswer; chosen: Chosen } | undefined> {
    const { state } = this;
    if (state.step !== 'ready' && state.step !== 'stopped' && state.step !== 'priced') return undefined;
    const { picked, measure, saved } = state;
    const chosen = { picked, measure, saved };
    const asked = request(picked);
    const places = asked.task === 'publish' ? asked.peers.length + (asked.network ? 1 : 0) : 0;
    this.set({ step: 'working', ...chosen, task, places, progress: null, asked: null, signing: null });
    const answer = await this.#ask(asked, (report) => {
      if (this.state.step !== 'working') return;
      if (report.type === 'progress') this.set({ ...this.state, progress: report.progress });
      else if (report.type === 'signing') this.set({ ...this.state, signing: report });
      else this.set({ ...this.state, asked: report });
    });
    switch (answer.type) {
      case 'published':
      case 'priced':
        break;
      case 'saved': {
        const { content, encrypted } = answer;
        const name = picked.name || 'antway';
        saveAs(content, task === 'tar' ? `${name}.tar` : `${name}.chunks.tar`);
        const savedContent = encrypted && {
          ...encrypted,
          isStored: (await keep(encrypted.manifest)) !== null,
        };
        this.set({ step: 'ready', ...chosen, error: null, saved: savedContent ?? saved });
        break;
      }
      case 'failed':
        this.set({ step: 'stopped', ...chosen, task, error: asError(answer) });
        break;
      default:
        this.set({ step: 'stopped', ...chosen, task, error: null });
    }
    return { answer, chosen };
  }

  /** Runs one task in its own worker, which ends with the task. */
  async #ask(request: PublishRequest, onReport?: (report: Report) => void): Promise<PublishAnswer> {
    this.#worker?.terminate();
    const worker = new Worker(new URL('./publish-worker.ts', import.meta.url), { type: 'module' });
    this.#worker = worker;
    const direct = await directOf(request).catch(partProblem);
    if (direct instanceof GatewayApiError) {
      worker.terminate();
      return { type: 'failed', code: direct.code, message: direct.message };
    }
    return new Promise<PublishAnswer>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<PublishAnswer>) => {
        if (data.type === 'progress' || data.type === 'asked' || data.type === 'signing') onReport?.(data);
        else resolve(data);
      };
      worker.onerror = ({ message }) =>
        resolve({
          type: 'failed',
          code: 'WORKER_BROKEN',
          message: texts.publish.workerFailed(message ?? ''),
        });
      worker.postMessage(request, direct ? [direct.port] : []);
    }).finally(() => {
      direct?.end();
      worker.terminate();
      if (this.#worker === worker) this.#worker = undefined;
    });
  }

  override set(state: PublishState): void {
    super.set(state);
    // Add the listener only while it is needed: it excludes the page from the back/forward cache.
    if (this.isUnsafeToLeave) window.addEventListener('beforeunload', askBeforeLeaving);
    else window.removeEventListener('beforeunload', askBeforeLeaving);
  }
}

export const publishSession = new PublishSession();

/** Connects to the nodes that a task needs, for its worker. Only a window can do that. */
async function directOf(request: PublishRequest): Promise<{ port: MessagePort; end(): void } | undefined> {
  const network = 'network' in request ? request.network : null;
  if (!network?.nodes) return undefined;
  const { serveNodes } = await import('../payment/direct-route.ts');
  const { port1, port2 } = new MessageChannel();
  return { port: port2, end: serveNodes(network.nodes, network.chain, port1) };
}

/** Makes the browser ask the user, in the browser's own words. */
export function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

export function usePublishState(): PublishState {
  return useObserved(publishSession, () => publishSession.state);
}

function inputOf({ files, isFolder, name }: Picked, signer: Uint8Array | null): PublishInput {
  return { files, isFolder, name, signer };
}

/**
 * The library lets the user find a lost link. A failure is not an error of publishing: the user still has the link.
 * @returns the manifest's id, or null if it is not stored.
 */
async function keep(manifest: EncryptedContent['manifest']): Promise<string | null> {
  if (!manifest) return null;
  try {
    const { id, isStored } = await gateway.addManifest(manifest);
    return isStored ? id : null;
  } catch (error) {
    console.warn('antway: the manifest is not stored on this device', error);
    return null;
  }
}

/** Adds the publication to the user's list. A failure is not an error of publishing either. */
async function listPublication(
  done: PublicationInput,
): Promise<{ unlisted: GatewayApiError | null; isUnchanged: boolean }> {
  try {
    const { noteDone } = await import('./note-publication.ts');
    return { unlisted: null, isUnchanged: await noteDone(done) };
  } catch (error) {
    return { unlisted: asGatewayApiError(error), isUnchanged: false };
  }
}

/** The page itself makes these problems. The worker's are English. */
const translatedCodes = new Set(['WORKER_BROKEN', 'PART_UNAVAILABLE']);

function asError({ code, message }: { code: string; message: string }): GatewayApiError {
  return new GatewayApiError(code, message, { isTranslated: translatedCodes.has(code) });
}
