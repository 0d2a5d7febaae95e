import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Start time of a process, as an opaque text that no later process with the same number shares. Null: no such process
 * runs. From /proc if it exists (man 5 proc, /proc/pid/stat field 22), else from `ps`.
 */
export async function processStartedAt(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the command's name is in brackets and may hold blanks and brackets: count after the last bracket
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // field 3 is the state: a zombie has ended
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return ps(pid, 'lstart=');
  }
}

/** Program name of a process. Null: no such process runs. */
export async function processName(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  try {
    return (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
  } catch {
    return ps(pid, 'comm=');
  }
}

/** Working folder of a process. Null: the system does not report it. */
export async function processFolder(pid: number): Promise<string | null> {
  return readlink(`/proc/${pid}/cwd`).catch(() => null);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // it exists, but we may not signal it
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function ps(pid: number, column: string): Promise<string | null> {
  try {
    const { stdout } = await run('ps', ['-p', String(pid), '-o', column]);
    return stdout.trim() === '' ? null : stdout.trim();
  } catch {
    return null;
  }
}
