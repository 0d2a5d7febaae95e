import type { DemoPayments } from '#http/demo/demo-payments.ts';
import type { Database } from '#src/app/database/database.ts';

/** Additions of a demo to a service. */
export interface Additions {
  /** Called with the migrated database, before anything is indexed or answered. */
  readonly prepare: (database: Database) => Promise<void>;
  /** Payments of `/demo/pay`. Null: there is no such path. */
  readonly demo: DemoPayments | null;
}
