import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { processStat } from '#kernel/stages/process-times.ts';

const run = promisify(execFile);

/**
 * Keeps a process on one core, together with its threads, its children, and everything that these start later. Needs
 * Linux with util-linux.
 */
export async function keepOnCore(pid: number, core: number): Promise<void> {
  for (const each of [pid, ...childrenOf(pid)]) {
    try {
      await run('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(each)]);
    } catch (error) {
      // a child that has ended is on no core
      if (each === pid || processStat(each) !== null) throw error;
    }
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((other) => processStat(other)?.parent === pid);
}
