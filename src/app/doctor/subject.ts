import type pg from 'pg';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Lifecycle } from '#kernel/process/lifecycle.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Finding, Group } from './finding.ts';

/** A database that answers and has the migrations of this version. */
export interface UsableDatabase {
  /** Connections for reads: their statements have a time limit, and cannot write. */
  readonly pool: pg.Pool;
  /** Null: no process has indexed yet. */
  readonly network: NetworkName | null;
  /** Bytes of the database on its disk. */
  readonly bytes: number;
  /** Time of the database's clock minus the time of this machine's clock, in ms. */
  readonly clockAheadMs: number;
}

/** Values that the subjects of an examination share. */
export interface Examination {
  readonly config: CommandContext['config'];
  readonly lifecycle: Pick<Lifecycle, 'add'>;
  /** Time of this machine in ms since 1970. */
  readonly now: () => number;
  /** Aborted when the time of the subject is over. */
  readonly signal: AbortSignal;
  /** Null: there is no database that can be read. The subject `database` has the reason. */
  readonly database: Promise<UsableDatabase | null>;
}

/** A subject of an examination, which changes nothing. */
export interface Subject {
  readonly group: Group;
  /** The part of the installation, for messages. */
  readonly name: string;
  readonly examine: (examination: Examination) => Promise<readonly Finding[]>;
}
