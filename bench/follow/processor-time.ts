import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConnectionFile } from '#embedded-postgres/connection-file.ts';
import { familyCpuMs, processStat } from '#kernel/stages/process-times.ts';

/**
 * Interval between two readings of a server's processor time, in ms. It is the largest possible age of the last reading
 * before the server ends, and less than 1 % of a sync of 1,500 MB. A reading looks at every process of the machine,
 * which takes some milliseconds. ord runs without such readings, so they must not cost Satscribe a part of its
 * processor.
 */
const lookEveryMs = 200;

/** Processor time of a run, in seconds. It includes complete process trees and processes that have ended. */
export interface ProcessorTime {
  /** Time of `satscribe` and of the programs that it ran. */
  readonly oursSeconds: number;
  readonly postgresSeconds: number;
  readonly nodeSeconds: number;
}

/**
 * Measures a run of `satscribe` in a data folder with a node. Both must be children of this process, and no other child
 * may end meanwhile. Linux only.
 */
export async function withProcessorTime<T>(
  dataDir: string,
  nodeFolder: string,
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly time: ProcessorTime }> {
  const node = Number(readFileSync(join(nodeFolder, 'regtest/bitcoind.pid'), 'utf8'));
  const [oursBefore, nodeBefore] = [known(endedChildrenMs()), known(familyCpuMs(node))];
  // Postgres is detached and not a child of ours, so its usage must be read repeatedly
  let postgresMs = 0;
  const look = async (): Promise<void> => {
    const server = await readConnectionFile(dataDir);
    if (server !== null) postgresMs = Math.max(postgresMs, familyCpuMs(server.serverPid) ?? 0);
  };
  const timer = setInterval(() => void look(), lookEveryMs);
  try {
    const result = await run();
    const time = {
      oursSeconds: (known(endedChildrenMs()) - oursBefore) / 1000,
      postgresSeconds: postgresMs / 1000,
      nodeSeconds: (known(familyCpuMs(node)) - nodeBefore) / 1000,
    };
    return { result, time };
  } finally {
    clearInterval(timer);
  }
}

const endedChildrenMs = (): number | null => processStat(process.pid)?.endedChildrenMs ?? null;

function known(ms: number | null): number {
  if (ms === null) throw new Error('processor time is measured on Linux only');
  return ms;
}
