import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a certificate for loopback that signs itself, and the certificate (PEM). */
export interface Certificate {
  certificateFile: string;
  keyFile: string;
  certificate: string;
}

/** Makes a certificate (P-256) with `openssl`. @param folder for its files. */
export function makeCertificate(folder: string): Certificate {
  const certificateFile = join(folder, 'certificate.pem');
  const keyFile = join(folder, 'key.pem');
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-keyout', keyFile, '-out', certificateFile];
  execFileSync('openssl', [...kind, '-days', '2', ...names, ...files], { stdio: 'ignore' });
  return { certificateFile, keyFile, certificate: readFileSync(certificateFile, 'utf8') };
}
