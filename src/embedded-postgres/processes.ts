import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * When the process started, as an opaque text that no later process with the same number shares; null where no
 * such process runs. /proc where there is one (man 5 proc, /proc/pid/stat field 22), else `ps`.
 */
export async function processStartedAt(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the command's name stands in brackets and may hold blanks and brackets: count behind the last one
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // field 3, the state: a zombie has ended
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return ps(pid, 'lstart=');
  }
}

/** Name of the program that runs as this process; null where no such process runs. */
export async function processName(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  try {
    return (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
  } catch {
    return ps(pid, 'comm=');
  }
}

/** The folder that the process works in; null where the system does not tell. */
export async function processFolder(pid: number): Promise<string | null> {
  return readlink(`/proc/${pid}/cwd`).catch(() => null);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // not ours to signal, but there
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
