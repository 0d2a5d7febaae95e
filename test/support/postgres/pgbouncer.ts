import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '#kernel/process/free-port.ts';
import { isExecutable, orSayWhy } from '#test/support/find-program.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Folder of pgbouncer on Debian. The paths of ordinary accounts do not contain it. */
const administratorFolder = '/usr/sbin';
/** Number of an account that Debian has. pgbouncer refuses to run as root. */
const ordinaryAccount = 65_534;

/**
 * Returns the program for a suite: the one that PGBOUNCER names, or one of the machine; `null` if there is none. Then
 * one line says so, and with CI=true it is a failure.
 */
export function pgbouncerForTests(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), administratorFolder];
  const paths = [process.env['PGBOUNCER'] ?? '', ...folders.map((folder) => join(folder, 'pgbouncer'))];
  const program = paths.find((path) => path !== '' && isExecutable(path)) ?? null;
  return orSayWhy(
    program,
    'pgbouncer is missing: the tests of poolers are skipped (scripts/install-pgbouncer.sh)',
  );
}

export interface Pgbouncer {
  /** Converts an address of the server into the same address through the pooler. */
  through(this: void, url: string): string;
  stop(this: void): Promise<void>;
}

/**
 * Starts a pooler in front of a server, with its defaults except the mode. The accounts of these addresses may use it.
 */
export async function startPgbouncer(
  program: string,
  mode: 'session' | 'transaction' | 'statement',
  urls: readonly string[],
): Promise<Pgbouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const accounts = urls.map((url) => new URL(url));
  const users = accounts.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`);
  await writeFile(join(folder, 'users.txt'), users.join(''));
  const { hostname, port: serverPort } = accounts[0] as URL;
  const settings = `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${mode}
unix_socket_dir =
`;
  await writeFile(join(folder, 'pgbouncer.ini'), settings);
  const account = process.getuid?.() === 0 ? { uid: ordinaryAccount, gid: ordinaryAccount } : {};
  const child = spawn(program, ['-q', join(folder, 'pgbouncer.ini')], { stdio: 'ignore', ...account });
  await waitUntil(() => listens(child, port));
  return {
    through: (url) => {
      const address = new URL(url);
      address.hostname = '127.0.0.1';
      address.port = String(port);
      return address.href;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      // SIGQUIT kills the pooler at once; otherwise it would wait for its clients
      child.kill('SIGQUIT');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listens(child: ChildProcess, port: number): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
