import { readConnectionFile } from '#embedded-postgres/connection-file.ts';
import { familyCpuMs } from '#kernel/stages/process-times.ts';

/** Processor time so far, in ms. */
export interface ProcessorMs {
  readonly ours: number;
  readonly postgres: number;
}

/** Reads the processor time of this process and of the embedded Postgres of a data folder. Linux only. */
export async function processorMeter(dataDir: string): Promise<() => ProcessorMs> {
  const serverPid = (await readConnectionFile(dataDir))?.serverPid ?? 0;
  return () => {
    const { user, system } = process.cpuUsage();
    return { ours: (user + system) / 1000, postgres: familyCpuMs(serverPid) ?? 0 };
  };
}

export function processorMsSince(before: ProcessorMs, after: ProcessorMs): ProcessorMs {
  return { ours: after.ours - before.ours, postgres: after.postgres - before.postgres };
}
