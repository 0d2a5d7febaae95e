import type { DerivedTable } from './derived-table.ts';
import { outputs } from './outputs/outputs.ts';
import { parentChildren } from './parent-children/parent-children.ts';

/** Every derived table, in the order in which rows are written. */
export const derivedTables: readonly DerivedTable[] = [parentChildren, outputs];
