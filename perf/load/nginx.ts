import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../tests/support/loopback-server.ts';

/** An nginx that serves a folder over HTTPS on loopback, as Debian's defaults have it. */
export class Nginx {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** @param folder for its own files. */
  static async start(
    folder: string,
    { web, certificate, key }: { web: string; certificate: string; key: string },
  ): Promise<Nginx> {
    const port = await freePort();
    const config = join(folder, 'nginx.conf');
    // In the foreground, and everything that it writes in this folder.
    const text = `
      ${process.getuid?.() === 0 ? 'user root;' : ''} # the folder is this user's alone
      daemon off;
      worker_processes auto;
      worker_rlimit_nofile 20000;
      pid ${folder}/nginx.pid;
      error_log stderr warn;
      events { worker_connections 4096; }
      http {
        access_log off;
        sendfile on;
        tcp_nopush on;
        keepalive_requests 100000;
        default_type application/octet-stream;
        client_body_temp_path ${folder}/body;
        proxy_temp_path ${folder}/proxy;
        fastcgi_temp_path ${folder}/fastcgi;
        uwsgi_temp_path ${folder}/uwsgi;
        scgi_temp_path ${folder}/scgi;
        server {
          listen 127.0.0.1:${port} ssl backlog=4096;
          ssl_certificate ${certificate};
          ssl_certificate_key ${key};
          root ${web};
        }
      }`;
    await writeFile(config, text);
    const child = spawn('nginx', ['-c', config, '-p', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
    const failed = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`nginx ended with ${code}`)));
    });
    const nginx = new Nginx(child, `https://127.0.0.1:${port}`);
    await Promise.race([nginx.#ready(), failed]);
    failed.catch(() => undefined); // from here on, ending is what it is asked to do
    return nginx;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGQUIT');
    await once(this.child, 'exit');
  }

  async #ready(): Promise<void> {
    const { port } = new URL(this.url);
    while (!(await isListening(Number(port)))) await delay(20);
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
