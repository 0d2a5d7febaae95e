/** Sums of a stage. Times are milliseconds. Times of parallel spans are added up. */
export interface StageRow {
  readonly stage: string;
  readonly count: number;
  /** Time between beginning and end. */
  readonly ms: number;
  /** Processor time. `null` if unknown. */
  readonly cpuMs: number | null;
  /** Time in which the stage was blocked. */
  readonly waitMs: number;
  readonly bytes: number;
  readonly rows: number;
  /** The stages that this stage waited for, and how long it waited for each of them. */
  readonly waitedFor: Readonly<Record<string, number>>;
}

/** All sums of a recording so far. */
export interface StageSums {
  /** Number of milliseconds since the recording began. */
  readonly ms: number;
  /** Rows of stages in the order in which data passes through them, then rows of processor time outside of stages. */
  readonly rows: readonly StageRow[];
  /**
   * Processor time of this process, and of all processes of the database, since the recording began, in milliseconds.
   * The database's time is null if unknown.
   */
  readonly processes: { readonly satscribe: number; readonly postgres: number | null };
}

/** Processor time of this process so far, of the main thread and of all threads, in milliseconds. */
export interface ProcessCpu {
  readonly mainMs: number;
  readonly allMs: number;
}

export function processCpu(): ProcessCpu {
  const main = process.threadCpuUsage();
  const all = process.cpuUsage();
  return { mainMs: (main.user + main.system) / 1000, allMs: (all.user + all.system) / 1000 };
}

/** A row of processor time outside of stages. */
export function otherRow(stage: string, cpuMs: number): StageRow {
  // `cpuMs` may be below 0, because the clocks of a process and of its threads differ by a tick
  const sums = { count: 1, ms: 0, cpuMs: Math.max(0, cpuMs), waitMs: 0, bytes: 0, rows: 0 };
  return { stage, ...sums, waitedFor: {} };
}
