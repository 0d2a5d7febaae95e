import { fileURLToPath } from 'node:url';
import { processOutcome } from '../process-outcome.ts';
import type { ProcessorMs } from '../processor-meter.ts';

/** Exports the schema `chain` of a data folder, or imports it into a new data folder. */
export interface SnapshotTask {
  readonly step: 'export' | 'import';
  readonly dataDir: string;
  /** The folder of the snapshot's files. */
  readonly folder: string;
}

/** A part of a step: how long it took, and its processor time. */
export interface SnapshotPart {
  readonly name: string;
  readonly ms: number;
  readonly processorMs: ProcessorMs;
}

export interface SnapshotOutcome {
  readonly parts: readonly SnapshotPart[];
  /** Events in the texts that were rebuilt; 0 for an export. */
  readonly events: number;
  /** Rebuilt texts whose hash was compared; 0 for an export. */
  readonly compared: number;
}

const processFile = fileURLToPath(new URL('./snapshot-run.ts', import.meta.url));

/** Runs a step in a process of its own, beside an embedded Postgres of its own. */
export function runSnapshot(task: SnapshotTask): Promise<SnapshotOutcome> {
  return processOutcome<SnapshotOutcome>(processFile, task, `snapshot ${task.step}`);
}
