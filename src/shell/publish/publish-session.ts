import type { PublishProgress } from '../../publish/publish.ts';
import { GatewayApiError, gateway } from '../gateway-api.ts';
import { saveAs } from '../save-as.ts';
import { texts } from '../texts/texts.ts';
import { useFollowed } from '../use-followed.ts';
import type { PublishAnswer, PublishInput, PublishRequest, Sealed } from './messages.ts';
import type { Picked } from './pick.ts';

export interface PublishOptions {
  /** Origins of peers to upload to. */
  peers: readonly string[];
  token: string;
  isPrivate: boolean;
}

export type Result = Extract<PublishAnswer, { type: 'published' }>;
/** Chunks that were written to a file. `isKept` as of what was published. */
export type Saved = Sealed & { isKept: boolean };
export type Task = 'publish' | 'tar' | 'chunks';

export type PublishState =
  /** Nothing is chosen. */
  | { step: 'choose'; error: GatewayApiError | null }
  | { step: 'reading' }
  | ({ step: 'ready'; error: GatewayApiError | null } & Chosen)
  | ({ step: 'working'; task: Task; progress: PublishProgress | null } & Chosen)
  /** Cancelled or failed half-way. */
  | ({ step: 'stopped'; task: Task; error: GatewayApiError | null } & Chosen)
  /** `isKept` tells whether this browser has the manifest of something private in its library. */
  | { step: 'done'; picked: Picked; isPrivate: boolean; result: Result; isKept: boolean };

interface Chosen {
  picked: Picked;
  /** Null while the archive is laid out. */
  measure: Measure | null;
  /** The chunks that were last written to a file. They stay with what was chosen: theirs may be the only link. */
  saved: Saved | null;
}

/** Bytes before compression, of the tar where there is one; and chunks, the data map's record among them. */
export interface Measure {
  bytes: number;
  chunks: number;
}

/**
 * One publishing at a time, from the choice to the address. It is the page's and not a screen's: it goes on while the
 * user looks elsewhere.
 */
class PublishSession {
  state: PublishState = { step: 'choose', error: null };
  #listeners = new Set<() => void>();
  #worker: Worker | undefined;
  /** How often something was chosen. A large folder may be read only after another was chosen in its place. */
  #choices = 0;

  /** Whether something is under way that leaving this page would end. */
  get isWorking(): boolean {
    return this.state.step === 'working';
  }

  /** Whether leaving this page would lose something: what is under way, or the one link to something private. */
  get isUnsafeToLeave(): boolean {
    const { state } = this;
    if (state.step === 'done') return state.result.manifest !== null && !state.isKept;
    if ('saved' in state && state.saved?.manifest && !state.saved.isKept) return true;
    return this.isWorking;
  }

  /** @param reading gives what was chosen; it may take a while for a large folder. */
  async choose(reading: Promise<Picked>): Promise<void> {
    const choice = ++this.#choices;
    this.#set({ step: 'reading' });
    let picked: Picked;
    try {
      picked = await reading;
      if (choice !== this.#choices) return;
    } catch (error) {
      if (choice !== this.#choices) return;
      const message = texts.open.unreadable((error as Error).message);
      this.#set({
        step: 'choose',
        error: new GatewayApiError('UNREADABLE', message, { isTranslated: true }),
      });
      return;
    }
    if (picked.files.length === 0) {
      this.#set({
        step: 'choose',
        error: new GatewayApiError('NOT_FOUND', texts.publish.empty, { isTranslated: true }),
      });
      return;
    }
    this.#set({ step: 'ready', picked, measure: null, error: null, saved: null });
    const answer = await this.#ask({ task: 'measure', ...inputOf(picked) });
    if (this.state.step !== 'ready' || this.state.picked !== picked) return;
    if (answer.type === 'measured') this.#set({ ...this.state, measure: answer });
    else if (answer.type === 'failed') this.#set({ ...this.state, error: asError(answer) });
  }

  /** Uploads to peers what was chosen. What they have of it already is not sent. */
  publish(options: PublishOptions): Promise<void> {
    return this.#run('publish', (picked) => ({ task: 'publish', ...inputOf(picked), ...options }));
  }

  /** Writes the tar to a file of the user. */
  saveTar(): Promise<void> {
    return this.#run('tar', (picked) => ({ task: 'tar', ...inputOf(picked) }));
  }

  /** Writes the sealed chunks to a file of the user; of something private without the data map's record. */
  saveChunks(isPrivate: boolean): Promise<void> {
    return this.#run('chunks', (picked) => ({ task: 'chunks', ...inputOf(picked), isPrivate }));
  }

  /** Ends what is under way. What was uploaded stays. */
  cancel(): void {
    this.#worker?.postMessage({ task: 'cancel' } satisfies PublishRequest);
  }

  /** Forgets what was chosen. */
  restart(): void {
    this.#choices++;
    this.#set({ step: 'choose', error: null });
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #run(task: Task, request: (picked: Picked) => PublishRequest): Promise<void> {
    if (this.state.step !== 'ready' && this.state.step !== 'stopped') return;
    const { picked, measure, saved } = this.state;
    const chosen = { picked, measure, saved };
    const asked = request(picked);
    this.#set({ step: 'working', ...chosen, task, progress: null });
    const answer = await this.#ask(asked, (progress) => {
      if (this.state.step === 'working') this.#set({ ...this.state, progress });
    });
    switch (answer.type) {
      case 'published':
        this.#set({
          step: 'done',
          picked,
          isPrivate: asked.task === 'publish' && asked.isPrivate,
          result: answer,
          isKept: await keep(answer.manifest),
        });
        break;
      case 'saved': {
        const { content, sealed } = answer;
        const name = picked.name || 'antway';
        saveAs(content, task === 'tar' ? `${name}.tar` : `${name}.chunks.tar`);
        const sealedNow = sealed && { ...sealed, isKept: await keep(sealed.manifest) };
        this.#set({ step: 'ready', ...chosen, error: null, saved: sealedNow ?? saved });
        break;
      }
      case 'failed':
        this.#set({ step: 'stopped', ...chosen, task, error: asError(answer) });
        break;
      default:
        this.#set({ step: 'stopped', ...chosen, task, error: null });
    }
  }

  /** One task in a worker of its own, which ends with it. */
  #ask(request: PublishRequest, onProgress?: (progress: PublishProgress) => void): Promise<PublishAnswer> {
    this.#worker?.terminate();
    const worker = new Worker(new URL('./publish-worker.ts', import.meta.url), { type: 'module' });
    this.#worker = worker;
    return new Promise<PublishAnswer>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<PublishAnswer>) => {
        if (data.type === 'progress') onProgress?.(data.progress);
        else resolve(data);
      };
      worker.onerror = ({ message }) =>
        resolve({
          type: 'failed',
          code: 'WORKER_BROKEN',
          message: texts.publish.workerFailed(message ?? ''),
        });
      worker.postMessage(request);
    }).finally(() => {
      worker.terminate();
      if (this.#worker === worker) this.#worker = undefined;
    });
  }

  #set(state: PublishState): void {
    this.state = state;
    // Only while it is needed: a page that listens to it is not kept for the way back.
    if (this.isUnsafeToLeave) window.addEventListener('beforeunload', askBeforeLeaving);
    else window.removeEventListener('beforeunload', askBeforeLeaving);
    for (const listener of this.#listeners) listener();
  }
}

export const publishSession = new PublishSession();

/** The browser asks the user, in words of its own. */
function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Whether something is being published, so that this page should stay. */
export function useIsPublishing(): boolean {
  return useFollowed(publishSession, () => publishSession.isWorking);
}

/** The publishing as it goes on. */
export function usePublishState(): PublishState {
  return useFollowed(publishSession, () => publishSession.state);
}

function inputOf({ files, isFolder, name }: Picked): PublishInput {
  return { files, isFolder, name };
}

/** Whoever loses the link then finds it here. The link is what counts, so that it cannot be kept is no failure. */
async function keep(manifest: Sealed['manifest']): Promise<boolean> {
  if (!manifest) return false;
  try {
    return (await gateway.addManifest(manifest)).isKept;
  } catch (error) {
    console.warn('antway: the manifest is not kept here', error);
    return false;
  }
}

function asError({ code, message }: { code: string; message: string }): GatewayApiError {
  return new GatewayApiError(code, message, { isTranslated: code === 'WORKER_BROKEN' });
}
