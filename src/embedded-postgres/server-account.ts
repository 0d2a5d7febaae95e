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
  /** Input for stdin. If absent, stdin is empty. */
  readonly input?: string;
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: string;
  /** The program's stdout and stderr. Control characters are removed, because the text is shown. */
  readonly output: string;
}

/** Names of accounts, in order of preference. If neither can be used, `lastResort` is, which exists on every system. */
const preferredAccounts = ['postgres', 'satscribe'];
const lastResort = 'nobody';
const execFileAsync = promisify(execFile);

/**
 * Returns the account that the server must run as. `null` is our own account. Only root needs another account, because
 * Postgres refuses to run as root. If a folder exists and does not belong to root, the account is its owner. Otherwise
 * it is `postgres` or `satscribe`, created if the system allows this, or else the last resort.
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
    'Postgres cannot run as root, and this system has no ordinary account and no way to create one.',
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

/**
 * Creates an account. Debian and Red Hat have useradd; Alpine and BusyBox have adduser. Returns `null` if neither
 * works.
 */
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
 * Runs a program as the account, with a minimal environment, isolated from the terminal's Ctrl-C. `null` is our own
 * account. The exit code is returned, never thrown. It is 127 if the program cannot be started.
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
    // not in the terminal's process group, so that only our process handles Ctrl-C
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
    // ignore the error, because a program that does not read its input reports failures by its exit code
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}

/**
 * Removes control characters from a text, because text of another account must not control the terminal that shows it.
 */
export const shownText = (text: string): string => text.replaceAll(/(?![\n\t])\p{Cc}/gu, '');
