import { type ExecFileOptions, execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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
  /** Its stdin; absent: empty. */
  readonly input?: string;
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: string;
  /** Its stdout and stderr, without control characters: they are shown. */
  readonly output: string;
}

/** Accounts in order of preference, before the last resort, which exists on every system. */
const preferredAccounts = ['postgres', 'satscribe'];
const lastResort = 'nobody';
const execFileAsync = promisify(execFile);

/**
 * The account that the server must run as. Null (our own) unless we are root, as which Postgres refuses to run.
 * Otherwise the owner of an existing folder, unless that is root; else `postgres` or `satscribe`, created if the system
 * allows it, else the last resort.
 */
export async function serverAccount(
  owner: Pick<ServerAccount, 'uid' | 'gid'> | null,
): Promise<ServerAccount | null> {
  if (process.getuid?.() !== 0) return null;
  const accounts = await readAccounts();
  if (owner !== null && owner.uid !== 0) {
    const { uid, gid } = owner;
    const name = accounts.find((account) => account.uid === uid)?.name ?? String(uid);
    return { name, uid, gid };
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

/** Creates an account: Debian and Red Hat have useradd, Alpine and BusyBox adduser. Null: neither works. */
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
    const child = execFile(program, [...parameters], execOptions, (error, out, err) => {
      const stdout = String(out);
      const output = shownText(`${stdout}${String(err)}`);
      if (error === null) resolve({ exitCode: 0, stdout, output });
      else if (typeof error.code === 'number') resolve({ exitCode: error.code, stdout, output });
      else resolve({ exitCode: 127, stdout, output: output === '' ? error.message : output });
    });
    // a program that does not read has its own exit code
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}

/** Text without control characters: another account's text must not control the terminal that shows it. */
export const shownText = (text: string): string => text.replaceAll(/(?![\n\t])\p{Cc}/gu, '');
