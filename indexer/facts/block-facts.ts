import type { OutputColumns } from './output-columns.ts';

/** The optional facts of one block; absent: nobody asked for them. Views on buffers that go when the block is released. */
export interface BlockFacts {
  readonly outputs?: OutputColumns;
}
