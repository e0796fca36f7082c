/// <reference lib="webworker" />

declare const self: ServiceWorkerGlobalScope;

/**
 * Deletes the cookies of the gateway's own name, before a page of a site's origin can read them: Antway uses none, so a
 * script of another site has set them. Cookies of wider names may belong to other applications. Workers see only cookies of
 * the path `/`. The script at the beginning of HTML documents deletes the cookies of all paths.
 * @param domain the name of the gateway, without a port. Never rejects.
 */
export async function deleteForeignCookies(domain: string): Promise<void> {
  const store: CookieStore | undefined = self.cookieStore;
  const cookies = (await store?.getAll().catch(() => [])) ?? [];
  // The name of the gateway can be a public suffix, which has no cookies.
  const deleting = cookies.flatMap(({ name = '' }) =>
    [false, true].map((partitioned) => store.delete({ name, domain, path: '/', partitioned })),
  );
  await Promise.allSettled(deleting);
}
