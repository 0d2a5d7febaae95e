import { type ExecFileOptions, execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { AppError } from '#kernel/errors/app-error.ts';

/** An unprivileged account that the server runs as. */
export interface ServerAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface RunResult {
  readonly exitCode: number;
  /** Its stdout and stderr. */
  readonly output: string;
}

/** Accounts in order of preference. The last exists on every system. */
const preferredAccounts = ['postgres', 'satscribe'];
const lastResort = 'nobody';
const execFileAsync = promisify(execFile);

/**
 * The account that the server must run as. Null (our own) unless we are root, as which Postgres refuses to run. An
 * existing cluster keeps its owner. Otherwise `postgres` or `satscribe`, created where the system allows it, else
 * `nobody`.
 */
export async function serverAccount(existingDataDir: string | null): Promise<ServerAccount | null> {
  if (process.getuid?.() !== 0) return null;
  const accounts = await readAccounts();
  if (existingDataDir !== null) {
    const { uid, gid } = await stat(existingDataDir);
    const name = accounts.find((account) => account.uid === uid)?.name ?? String(uid);
    if (uid !== 0) return { name, uid, gid };
  }
  for (const name of preferredAccounts) {
    const found = accounts.find((account) => account.name === name && account.uid !== 0);
    if (found !== undefined) return found;
  }
  return (await createAccount('satscribe')) ?? lastResortAccount(accounts);
}

function lastResortAccount(accounts: readonly ServerAccount[]): ServerAccount {
  const found = accounts.find((account) => account.name === lastResort && account.uid !== 0);
  if (found !== undefined) return found;
  throw new AppError(
    'postgres_start_failed',
    'Postgres does not run as root, and this system has no ordinary account and no way to create one.',
  );
}

async function readAccounts(): Promise<ServerAccount[]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map((fields) => ({ name: fields[0] ?? '', uid: Number(fields[2]), gid: Number(fields[3]) }));
}

/** Debian and Red Hat have useradd, Alpine and BusyBox adduser. Null where neither works. */
async function createAccount(name: string): Promise<ServerAccount | null> {
  const commands: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]],
    ['adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', name]],
  ];
  for (const [command, parameters] of commands) {
    const made = await execFileAsync(command, parameters).then(
      () => true,
      () => false,
    );
    if (!made) continue;
    const account = (await readAccounts()).find((entry) => entry.name === name);
    if (account !== undefined) return account;
  }
  return null;
}

/**
 * Runs a program as the account (null: as ourselves) with a bare environment, isolated from the terminal's Ctrl-C.
 * The exit code is returned, never thrown; a program that cannot be started has 127.
 */
export async function runAs(
  account: ServerAccount | null,
  program: string,
  parameters: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const execOptions: ExecFileOptions & { detached: boolean } = {
    cwd: options.cwd ?? '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...options.env },
    timeout: options.timeoutMs ?? 60_000,
    // outside the terminal's process group: Ctrl-C is ours to handle
    detached: true,
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
  };
  return new Promise((resolve) => {
    execFile(program, [...parameters], execOptions, (error, stdout, stderr) => {
      const output = `${String(stdout)}${String(stderr)}`;
      if (error === null) resolve({ exitCode: 0, output });
      else if (typeof error.code === 'number') resolve({ exitCode: error.code, output });
      else resolve({ exitCode: 127, output: output === '' ? error.message : output });
    });
  });
}
