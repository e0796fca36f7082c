import type { AntExportInit, AntImported } from './types.ts';
import type { WorkerRequests } from './worker-requests.ts';

/** Files that carry a whole site, with all chunks. @throws as `WorkerRequests.request`. */
export function pageSiteFiles({ request, json }: WorkerRequests) {
  return {
    /** @throws also AntError `NOT_FOUND` if not all chunks are stored. */
    export(address: string, { title, icon, signal }: AntExportInit): Promise<Response> {
      const init = signal ? { signal } : {};
      if (title === undefined && icon === undefined) return request(`export?address=${address}`, init);
      const body = new FormData();
      if (title !== undefined) body.append('title', title);
      if (icon) body.append('icon', icon);
      return request(`export?address=${address}`, { ...init, method: 'POST', body });
    },
    /** @throws also TypeError for anything but a Blob; AntError `CORRUPT`, `UNSUPPORTED`, `REFUSED` if storage is blocked. */
    async import(
      file: Blob,
      address: string | undefined,
      signal: AbortSignal | null | undefined,
    ): Promise<AntImported> {
      if (!(file instanceof Blob)) throw new TypeError('import: the file must be a Blob.');
      const query = address === undefined ? '' : `?address=${address}`;
      return json(`import${query}`, { method: 'POST', body: file, ...(signal && { signal }) });
    },
  };
}
