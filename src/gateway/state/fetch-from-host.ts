const wantsCredentials = new Set([401, 403]);

/**
 * Fetches one of the gateway's own files from its host without cookies: a site on a subdomain can set so many cookies
 * for the gateway's domain that the host refuses every request with cookies. Repeats the request with credentials only
 * if the host refuses the anonymous request, or redirects it, for example to a login.
 * @returns undefined if the host redirects to another origin.
 * @throws TypeError if there is no response, or the signal's abort reason.
 */
export async function fetchFromHost(url: string, init: RequestInit = {}): Promise<Response | undefined> {
  const anonymous = await fetch(url, { ...init, credentials: 'omit', redirect: 'manual' });
  const isRedirect = anonymous.type === 'opaqueredirect';
  if (!isRedirect && !wantsCredentials.has(anonymous.status)) return anonymous;
  try {
    const response = await fetch(url, { ...init, credentials: 'same-origin' });
    return new URL(response.url).origin === new URL(url, self.location.href).origin ? response : undefined;
  } catch (error) {
    // The other origin does not let pages of this origin read the response.
    if (isRedirect && !init.signal?.aborted) return undefined;
    throw error;
  }
}
