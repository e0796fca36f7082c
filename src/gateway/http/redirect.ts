export function redirect(location: string, status: 301 | 302, headers: Record<string, string>): Response {
  return new Response(null, { status, headers: { ...headers, Location: location } });
}
