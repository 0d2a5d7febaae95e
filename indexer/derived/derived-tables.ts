import type { DerivedTable } from './derived-table.ts';
import { outputs } from './outputs/outputs.ts';
import { parentChildren } from './parent-children/parent-children.ts';

/** Every derived table. The order is that in which their rows are written. */
export const derivedTables: readonly DerivedTable[] = [parentChildren, outputs];
