import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** An account with all rights on indices whose names begin with `test-`, and no other rights. */
export const restrictedAccount = { user: 'satscribe', password: 'secret-word' } as const;
/** Bcrypt of the password. */
const passwordHash = '$2a$10$pwPq2tAFkAKgvx9jM9rqXOdSrTAq/xZ4Ptwsr4eH69D.sSj6xogIG';

const roles = `writer:
  cluster: []
  indices:
    - names: ['test-*']
      privileges: [all]
`;

/** Path of the server's certificate, which is its own authority. */
export const certificateOf = (dataDir: string): string => join(dataDir, 'config/http.crt');

/** Creates a certificate for 127.0.0.1 and an account for a server. Returns lines of elasticsearch.yml. */
export async function secureConfig(configDir: string, seenConfigDir: string): Promise<string[]> {
  const subject = ['-subj', '/CN=satscribe test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    ...subject,
    '-keyout',
    join(configDir, 'http.key'),
    '-out',
    join(configDir, 'http.crt'),
  ]);
  await writeFile(join(configDir, 'users'), `${restrictedAccount.user}:${passwordHash}\n`);
  await writeFile(join(configDir, 'users_roles'), `writer:${restrictedAccount.user}\n`);
  await writeFile(join(configDir, 'roles.yml'), roles);
  return [
    'xpack.security.enabled: true',
    'xpack.security.http.ssl.enabled: true',
    `xpack.security.http.ssl.key: ${seenConfigDir}/http.key`,
    `xpack.security.http.ssl.certificate: ${seenConfigDir}/http.crt`,
  ];
}

/** Whether the server accepts the account. */
export function letsIn(url: string, dataDir: string): Promise<boolean> {
  const { user, password } = restrictedAccount;
  return new Promise((resolve) => {
    const asked = request(
      `${url}/_security/_authenticate`,
      { ca: readFileSync(certificateOf(dataDir)), auth: `${user}:${password}`, timeout: 5000 },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.on('error', () => resolve(false));
    asked.on('timeout', () => asked.destroy());
    asked.end();
  });
}
