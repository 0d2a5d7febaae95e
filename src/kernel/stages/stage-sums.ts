/** Sums of a stage. Times are milliseconds; those of parallel spans add up. */
export interface StageRow {
  readonly stage: string;
  readonly count: number;
  /** Time between beginning and end. */
  readonly ms: number;
  /** Processor time; null: unknown. */
  readonly cpuMs: number | null;
  /** Time in which it was blocked. */
  readonly waitMs: number;
  readonly bytes: number;
  readonly rows: number;
  /** The stages that it waited for, with the time of each. */
  readonly waitedFor: Readonly<Record<string, number>>;
}

/** All sums of a recording so far. */
export interface StageSums {
  /** Milliseconds since it began. */
  readonly ms: number;
  /** Rows in the order in which data passes the stages, then processor time outside of stages. */
  readonly rows: readonly StageRow[];
  /** Processor milliseconds meanwhile: of this process, and of all processes of the database (null: unknown). */
  readonly processes: { readonly satscribe: number; readonly postgres: number | null };
}

/** Processor milliseconds of this process so far, all its threads. */
export interface ProcessCpu {
  readonly mainMs: number;
  readonly allMs: number;
}

export function processCpu(): ProcessCpu {
  const main = process.threadCpuUsage();
  const all = process.cpuUsage();
  return { mainMs: (main.user + main.system) / 1000, allMs: (all.user + all.system) / 1000 };
}

/** Processor time outside of stages. */
export function otherRow(stage: string, cpuMs: number): StageRow {
  // the clocks of a process and of its threads differ by a tick
  const sums = { count: 1, ms: 0, cpuMs: Math.max(0, cpuMs), waitMs: 0, bytes: 0, rows: 0 };
  return { stage, ...sums, waitedFor: {} };
}
