import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { installWheels } from '../../build/wheels.mjs';
import { freePort, LoopbackServer, passOn } from './loopback-server.ts';
import { fromRoot } from './paths.ts';

const corsHeaders = 'authorization, content-type, x-amz-content-sha256, x-amz-date';

/** An S3 server on loopback, with one bucket. It refuses requests with a wrong signature. */
export class S3Server {
  readonly bucket = 'chunks';
  readonly credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'a secret/of+some=length' };

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly url: string,
  ) {}

  static async start(): Promise<S3Server> {
    const wheels = installWheels('rclone', fromRoot('tests/s3/requirements.txt'));
    if (wheels === undefined)
      throw new Error('The S3 server of the tests needs Linux, and python3 with pip.');
    const program = join(wheels, 'bin/rclone');
    const folder = mkdtempSync(join(tmpdir(), 'antway-s3-'));
    mkdirSync(join(folder, 'data/chunks'), { recursive: true });
    const port = await freePort();
    const child = spawn(
      program,
      [
        ...['serve', 's3', join(folder, 'data'), '--addr', `127.0.0.1:${port}`],
        ...['--auth-key', 'AKIDTEST,a secret/of+some=length'],
        ...['--config', join(folder, 'none.conf')],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let log = '';
    child.stderr!.setEncoding('utf8').on('data', (text) => (log += text));
    const server = new S3Server(child, folder, `http://127.0.0.1:${port}`);
    while (!(await isAnswering(server.url))) {
      if (child.exitCode !== null) throw new Error(`rclone exited with ${child.exitCode}:\n${log}`);
    }
    return server;
  }

  /** The variables by which programs find the server. */
  get env(): Record<string, string> {
    return {
      AWS_ACCESS_KEY_ID: this.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: this.credentials.secretAccessKey,
      AWS_REGION: 'eu-test-1',
      AWS_ENDPOINT_URL: this.url,
    };
  }

  /**
   * The server behind rules for pages, as buckets have them: those of docs/reference/publish.md. rclone has no rules for
   * the headers of signatures. The host goes on unchanged, because the signature covers it.
   * @param origin of the pages.
   */
  withCors(origin: string): Promise<LoopbackServer> {
    return LoopbackServer.start(async (request, response) => {
      response.setHeader('Access-Control-Allow-Origin', origin);
      if (request.method !== 'OPTIONS') return passOn(request, response, this.url);
      response.setHeader('Access-Control-Allow-Methods', 'PUT, HEAD');
      response.setHeader('Access-Control-Allow-Headers', corsHeaders);
      response.writeHead(204).end();
    });
  }

  /** The names of the objects below a prefix. */
  list(prefix = ''): string[] {
    const folder = join(this.folder, 'data', this.bucket, prefix);
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  read(key: string): Buffer<ArrayBuffer> {
    return readFileSync(join(this.folder, 'data', this.bucket, key));
  }

  /** Through the server, which remembers its folders for some time. */
  async write(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const client = new AwsClient({ ...this.credentials, region: 'eu-test-1', service: 's3' });
    const answer = await client.fetch(`${this.url}/${this.bucket}/${key}`, { method: 'PUT', body: bytes });
    if (!answer.ok) throw new Error(await answer.text());
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return false;
  }
}
