import { readFile, writeFile } from 'node:fs/promises';

/** Peak memory of a process since its start or since `restartPeak`, in MB. Linux only. */
export async function peakMegabytes(pid: number): Promise<number> {
  return megabytesOf(pid, 'VmHWM');
}

/** Resets the peak memory of a process to its current memory (proc(5), clear_refs), and returns this. */
export async function restartPeak(pid: number): Promise<number> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  return megabytesOf(pid, 'VmRSS');
}

async function megabytesOf(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`, 'u').exec(status)?.[1] ?? Number.NaN) / 1024;
}
