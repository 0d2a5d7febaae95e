import type { DemoPayments } from '#http/demo/demo-payments.ts';
import type { Database } from '#src/app/database/database.ts';

/** The parts that a demo adds to a service. */
export interface Additions {
  /** Called with the migrated database, before any block is indexed and any request is answered. */
  readonly prepare: (database: Database) => Promise<void>;
  /** Makes the payments of `/demo/pay`. `null` if there is no such path. */
  readonly demo: DemoPayments | null;
}
