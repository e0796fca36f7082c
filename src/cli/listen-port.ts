import { createServer } from 'node:net';
import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError */
export function portFrom(value: string): number {
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port;
  throw new InvalidArgumentError('A port is a number from 0 to 65535.');
}

/** Whether a port of loopback is free. Port 0 is free if the machine has this address. */
export function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/**
 * The addresses of loopback to listen on. Browsers may resolve `localhost` to either of them.
 * @param wanted undefined: `preferred` if it is free, otherwise any free port.
 */
export async function loopbackAddresses(wanted: number | undefined, preferred: number): Promise<string[]> {
  const hosts = (await isFree(0, '::1')) ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];
  const port = wanted ?? ((await isFree(preferred)) ? preferred : 0);
  return hosts.map((host) => `${host}:${port}`);
}
