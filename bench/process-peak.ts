import { readFile, writeFile } from 'node:fs/promises';

/** The most memory that a process had since it began, or since `restartPeak`. Linux. */
export async function peakMegabytes(pid: number): Promise<number> {
  return megabytesOf(pid, 'VmHWM');
}

/** Resets the peak of a process to its present memory (proc(5), clear_refs), which this returns. */
export async function restartPeak(pid: number): Promise<number> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  return megabytesOf(pid, 'VmRSS');
}

async function megabytesOf(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`, 'u').exec(status)?.[1] ?? Number.NaN) / 1024;
}
