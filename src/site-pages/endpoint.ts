export class EndpointError extends Error {
  override readonly name = 'EndpointError';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** @param path below `/-/`. @throws EndpointError with the code and the message of the endpoint's error. */
export async function request(path: string, method = 'GET', body: BodyInit | null = null): Promise<Response> {
  const response = await fetch(`/-/${path}`, { method, body, cache: 'no-store' });
  if (response.ok) return response;
  const { code, message } = await response.json();
  throw new EndpointError(code, message);
}

/** Returns the JSON of an endpoint's answer. @throws as `request`. */
export async function ask<T>(path: string, method?: string, body?: BodyInit | null): Promise<T> {
  const response = await request(path, method, body);
  return response.status === 204 ? (undefined as T) : response.json();
}

export function problemText(error: { message: string; code?: string }): string {
  return `${error.message} (${error.code ?? 'INTERNAL'})`;
}
