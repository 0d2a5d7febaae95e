import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Returns the start time of a process as an opaque text. No later process with the same number has the same text.
 * Returns `null` if the process does not run. The time comes from /proc if it exists (man 5 proc, /proc/pid/stat field
 * 22), otherwise from `ps`.
 */
export async function processStartedAt(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // the command's name is in brackets and may contain blanks and brackets, so count after the last bracket
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // field 3 is the state; a zombie has already ended
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return ps(pid, 'lstart=');
  }
}

/** Returns the program name of a process, or `null` if the process does not run. */
export async function processName(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null;
  try {
    return (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
  } catch {
    return ps(pid, 'comm=');
  }
}

/** Returns the working folder of a process, or `null` if the system does not report it. */
export async function processFolder(pid: number): Promise<string | null> {
  return readlink(`/proc/${pid}/cwd`).catch(() => null);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists, but we may not send signals to it
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
