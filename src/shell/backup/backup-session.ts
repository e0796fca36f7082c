import { Observable } from '../observable.ts';
import { saveAs } from '../save-as.ts';
import type { BackupContents } from './backup-contents.ts';
import { type CreatedBackup, createBackup } from './create-backup.ts';
import { openBackup, type RestoreParts, type RestoreReport, restoreBackup } from './restore-backup.ts';

export type BackupState =
  | { step: 'rest'; error?: unknown; failed?: 'create' | 'open' | 'restore' }
  | { step: 'creating'; done: number; count: number }
  | { step: 'created'; backup: Omit<CreatedBackup, 'file'> & { bytes: number } }
  | { step: 'opening'; share: number }
  | { step: 'opened'; contents: BackupContents }
  | { step: 'restoring'; done: number; count: number }
  | { step: 'restored'; report: RestoreReport };

/** One per page and not per screen, so that the work continues when the user changes the screen. */
class BackupSession extends Observable<BackupState> {
  #stop = new AbortController();
  /** The file that was opened last. After a wrong passphrase, the user need not choose it again. */
  file: File | null = null;

  async create(passphrase: string, withContents: boolean): Promise<void> {
    this.#stop = new AbortController();
    this.set({ step: 'creating', done: 0, count: 1 });
    await this.#attempt('create', async (signal) => {
      const onProgress = (done: number, count: number) => this.set({ step: 'creating', done, count });
      const { file, ...backup } = await createBackup(passphrase, withContents, onProgress, signal);
      signal.throwIfAborted();
      saveAs(file, backup.name);
      this.set({ step: 'created', backup: { ...backup, bytes: file.size } });
    });
  }

  async open(file: File, passphrase: string): Promise<void> {
    this.#stop = new AbortController();
    this.file = file;
    this.set({ step: 'opening', share: 0 });
    await this.#attempt('open', async (signal) => {
      const contents = await openBackup(file, passphrase, (share) => {
        signal.throwIfAborted();
        this.set({ step: 'opening', share });
      });
      signal.throwIfAborted();
      this.set({ step: 'opened', contents });
    });
  }

  async restore(contents: BackupContents, parts: RestoreParts): Promise<void> {
    this.set({ step: 'restoring', done: 0, count: 1 });
    await this.#attempt('restore', async () => {
      const onProgress = (done: number, count: number) => this.set({ step: 'restoring', done, count });
      this.set({ step: 'restored', report: await restoreBackup(contents, parts, onProgress) });
    });
  }

  /** Ends the creation or the check of a file, and forgets an opened one. */
  end(): void {
    this.#stop.abort();
    this.file = null;
    this.set({ step: 'rest' });
  }

  async #attempt(failed: 'create' | 'open' | 'restore', work: (signal: AbortSignal) => Promise<void>) {
    const { signal } = this.#stop;
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.set({ step: 'rest', error, failed });
    }
  }
}

export const backupSession = new BackupSession({ step: 'rest' });
