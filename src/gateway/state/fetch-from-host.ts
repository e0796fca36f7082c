/** The answers of hosts that want to know who asks. */
const wantsCredentials = new Set([401, 403]);

/**
 * Fetches one of the gateway's own files from its host. The request carries no cookies: a site on a subdomain can set
 * cookies for the gateway's domain, and so many of them that the host refuses every request that carries them. Only when
 * the host refuses the anonymous request, or redirects it as to a login, the same is asked with credentials.
 *
 * @returns undefined when the host redirects to another origin.
 * @throws TypeError when there is no answer, or whatever the signal aborts with.
 */
export async function fetchFromHost(url: string, init: RequestInit = {}): Promise<Response | undefined> {
  const anonymous = await fetch(url, { ...init, credentials: 'omit', redirect: 'manual' });
  const isRedirect = anonymous.type === 'opaqueredirect';
  if (!isRedirect && !wantsCredentials.has(anonymous.status)) return anonymous;
  try {
    const response = await fetch(url, { ...init, credentials: 'same-origin' });
    return new URL(response.url).origin === new URL(url, self.location.href).origin ? response : undefined;
  } catch (error) {
    // A redirect to another origin, which does not let pages of this one read its answer.
    if (isRedirect && !init.signal?.aborted) return undefined;
    throw error;
  }
}
